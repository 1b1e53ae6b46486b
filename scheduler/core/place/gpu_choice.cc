#include "scheduler/core/place/gpu_choice.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <numeric>
#include <utility>

namespace muster::core {
namespace {

constexpr std::size_t kGpusMax = 64;
// Of one search: enough for every set of 16 GPUs; on larger machines a set that is as good may be
// taken for the best.
constexpr std::uint32_t kStepsMax = 1U << 18;

using Mask = std::uint64_t;  // of candidates

// Goes through the sets of one size whose pairs all reach a quality and that keep as many tasks
// local as can be; keeps the one that is cheapest to take away.
class Search {
 public:
  Search(const GpuLinkTable& links, const std::vector<GpuDomain>& domains, const GpuDemand& demand)
      : domains_(domains), demand_(demand) {
    for (const GpuDomain& domain : domains) {
      gpus_.insert(gpus_.end(), domain.gpus.begin(), domain.gpus.end());
    }
    std::sort(gpus_.begin(), gpus_.end());
    gpus_.resize(std::min(gpus_.size(), kGpusMax));
    for (const GpuDomain& domain : domains) {
      Mask members = 0;
      for (std::size_t i = 0; i < gpus_.size(); ++i) {
        const auto& its = domain.gpus;
        members |= Mask{std::binary_search(its.begin(), its.end(), gpus_[i])} << i;
      }
      members_.push_back(members);
    }
    FindQualities(links);
    target_ = MostLocal();
  }

  std::vector<std::uint32_t> Run() {
    const Mask all = gpus_.size() == kGpusMax ? ~Mask{0} : (Mask{1} << gpus_.size()) - 1;
    for (; !found_; --target_) {
      // As good a weakest link as any set of these tasks has.
      joined_.assign(gpus_.size(), 0);
      for (std::size_t level = 0; level < at_level_.size() && !found_; ++level) {
        for (std::size_t i = 0; i < gpus_.size(); ++i) {
          joined_[i] |= at_level_[level][i];
        }
        sets_ = 0;
        steps_ = 0;
        Extend(0, all, demand_.gpus);
      }
      if (target_ == 0) {
        break;
      }
    }
    std::vector<std::uint32_t> chosen;
    for (std::size_t i = 0; i < gpus_.size(); ++i) {
      if ((best_ >> i & 1U) != 0) {
        chosen.push_back(gpus_[i]);
      }
    }
    return chosen;
  }

 private:
  static std::uint32_t Count(Mask mask) { return static_cast<std::uint32_t>(std::popcount(mask)); }

  // at_level_[q][i]: the candidates that i is joined to by the q-th best quality.
  void FindQualities(const GpuLinkTable& links) {
    std::vector<std::uint64_t> qualities = {0};
    for (std::size_t i = 0; i < gpus_.size(); ++i) {
      for (std::size_t j = i + 1; j < gpus_.size(); ++j) {
        qualities.push_back(links.Quality(gpus_[i], gpus_[j]));
      }
    }
    std::sort(qualities.begin(), qualities.end(), std::greater<>());
    qualities.erase(std::unique(qualities.begin(), qualities.end()), qualities.end());
    at_level_.assign(qualities.size(), std::vector<Mask>(gpus_.size(), 0));
    for (std::size_t i = 0; i < gpus_.size(); ++i) {
      for (std::size_t j = 0; j < gpus_.size(); ++j) {
        if (i != j) {
          const auto level = std::lower_bound(qualities.begin(), qualities.end(),
                                              links.Quality(gpus_[i], gpus_[j]), std::greater<>());
          at_level_[static_cast<std::size_t>(level - qualities.begin())][i] |= Mask{1} << j;
        }
      }
    }
  }

  // The most tasks that any choice keeps local: GPU by GPU, where each serves most. Only a bound
  // where tasks have several GPUs.
  [[nodiscard]] std::uint32_t MostLocal() const {
    std::vector<std::uint32_t> gains;
    std::uint32_t local = 0;
    for (std::size_t d = 0; d < domains_.size(); ++d) {
      const std::uint32_t core_tasks = domains_[d].core_tasks;
      for (std::uint32_t n = 1; n <= Count(members_[d]); ++n) {
        gains.push_back(LocalTasks(demand_, n, core_tasks) -
                        LocalTasks(demand_, n - 1, core_tasks));
        local += gains.back();
      }
    }
    if (demand_.sharers > 1) {
      std::sort(gains.begin(), gains.end(), std::greater<>());
      gains.resize(std::min<std::size_t>(gains.size(), demand_.gpus));
      local = std::accumulate(gains.begin(), gains.end(), 0U);
    } else {
      local = std::min(local, demand_.gpus / demand_.per_task);
    }
    return std::min(local, demand_.tasks);
  }

  // Tasks that are local when each domain gives what is in `at_most`.
  [[nodiscard]] std::uint32_t Local(Mask at_most) const {
    std::uint32_t local = 0;
    for (std::size_t d = 0; d < domains_.size(); ++d) {
      local += LocalTasks(demand_, Count(members_[d] & at_most), domains_[d].core_tasks);
    }
    return local;
  }

  // False when too many of the chosen ones already serve no local task.
  [[nodiscard]] bool WastesLittle(Mask chosen) const {
    std::uint32_t used = 0;
    for (std::size_t d = 0; d < domains_.size(); ++d) {
      const std::uint32_t core_tasks = domains_[d].core_tasks;
      const std::uint32_t of_use = demand_.sharers > 1
                                       ? (core_tasks + demand_.sharers - 1) / demand_.sharers
                                       : core_tasks * demand_.per_task;
      used += std::min(Count(members_[d] & chosen), of_use);
    }
    const std::uint32_t needed = demand_.sharers > 1
                                     ? (target_ + demand_.sharers - 1) / demand_.sharers
                                     : target_ * demand_.per_task;
    return Count(chosen) - used + needed <= demand_.gpus;
  }

  // `open`: candidates that are joined to all chosen ones and stand behind them.
  void Extend(Mask chosen, Mask open, std::uint32_t missing) {
    if (missing == 0) {
      if (Local(chosen) >= target_) {
        Compare(chosen);
      }
      return;
    }
    while (Count(open) >= missing && sets_ < kSetsCompared && ++steps_ < kStepsMax &&
           Local(chosen | open) >= target_ && WastesLittle(chosen)) {
      const int next = std::countr_zero(open);
      const Mask bit = Mask{1} << next;
      open &= ~bit;
      Extend(chosen | bit, open & joined_[static_cast<std::size_t>(next)], missing - 1);
    }
  }

  // Keeps the set that cuts the fewest of the best links to the GPUs that stay.
  void Compare(Mask chosen) {
    ++sets_;
    std::vector<std::uint32_t> cut(at_level_.size(), 0);
    for (std::size_t level = 0; level < at_level_.size(); ++level) {
      for (Mask rest = chosen; rest != 0; rest &= rest - 1) {
        cut[level] +=
            Count(at_level_[level][static_cast<std::size_t>(std::countr_zero(rest))] & ~chosen);
      }
    }
    if (!found_ || cut < best_cut_) {
      found_ = true;
      best_ = chosen;
      best_cut_ = std::move(cut);
    }
  }

  const std::vector<GpuDomain>& domains_;
  const GpuDemand& demand_;
  std::vector<std::uint32_t> gpus_;  // the candidates
  std::vector<Mask> members_;        // by domain
  std::vector<std::vector<Mask>> at_level_;
  std::vector<Mask> joined_;  // by a link that reaches the quality that is tried
  std::uint32_t target_ = 0;  // tasks that must be local
  std::uint32_t sets_ = 0;    // complete sets seen
  std::uint32_t steps_ = 0;
  bool found_ = false;
  Mask best_ = 0;
  std::vector<std::uint32_t> best_cut_;
};

}  // namespace

std::uint32_t LocalTasks(const GpuDemand& demand, std::uint32_t gpus, std::uint32_t core_tasks) {
  const std::uint64_t served =
      demand.sharers > 1 ? std::uint64_t{gpus} * demand.sharers : gpus / demand.per_task;
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(served, core_tasks));
}

std::vector<std::uint32_t> ChooseGpus(const GpuLinkTable& links,
                                      const std::vector<GpuDomain>& domains,
                                      const GpuDemand& demand) {
  return Search(links, domains, demand).Run();
}

}  // namespace muster::core
