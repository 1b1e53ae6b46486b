#include "tests/bench/packing_experiment.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>
#include <utility>

#include "scheduler/simulator/random_sequence.h"

namespace muster::bench {
namespace {

constexpr std::uint64_t kLoadMost = 130;  // per cent

using Kind = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::uint64_t, std::uint64_t>;

Kind KindOf(const PackingPod& pod) {
  return {pod.job.cpu_milli, pod.job.gpus, pod.job.gpu_milli, pod.job.models, pod.memory_mib};
}

std::uint64_t GpuOf(const PackingPod& pod) {
  return std::uint64_t{pod.job.gpus} * pod.job.gpu_milli;
}

bool IsPart(const core::PackingClass& job) {
  return job.gpus == 1 && job.gpu_milli < 1000;
}

std::uint64_t Free(const core::PackingRoom& room) {
  return std::accumulate(room.gpus.begin(), room.gpus.end(), std::uint64_t{0});
}

// A node's score for a kind of pod, higher is better, and the GPU that goes with it.
struct Score {
  std::int64_t value = 0;
  std::size_t gpu = 0;
};

// The fullest GPU that takes the part, the lowest of equals.
std::size_t TightestGpu(const core::PackingRoom& room, const core::PackingClass& job) {
  std::size_t best = room.gpus.size();
  for (std::size_t i = 0; i < room.gpus.size(); ++i) {
    if (room.gpus[i] >= job.gpu_milli &&
        (best == room.gpus.size() || room.gpus[i] < room.gpus[best])) {
      best = i;
    }
  }
  return best;
}

Score BestFitScore(const core::PackingRoom& room, const core::PackingClass& job) {
  const double cpu = static_cast<double>(room.cpu_milli) - job.cpu_milli;
  const double gpu =
      static_cast<double>(Free(room)) - static_cast<double>(job.gpus) * job.gpu_milli;
  return {static_cast<std::int64_t>(100 * (1 - 0.5 * cpu / 128000 - 0.5 * gpu / 8000)),
          IsPart(job) ? TightestGpu(room, job) : 0};
}

Score FgdScore(const core::PackingRoom& room, const core::PackingClass& job,
               const core::PackingMix& mix, double jobs) {
  const auto before = static_cast<double>(core::Fragmentation(room, mix));
  Score best{-1, 0};
  for (std::size_t gpu = 0; gpu < std::max<std::size_t>(room.gpus.size(), 1); ++gpu) {
    if (IsPart(job) && room.gpus[gpu] < job.gpu_milli) {
      continue;
    }
    const auto after = static_cast<double>(core::Fragmentation(core::Without(room, job, gpu), mix));
    const double less = (before - after) / jobs / 1000;
    const auto value = static_cast<std::int64_t>(100 / (1 + std::exp(-less)));
    if (value > best.value) {
      best = {value, gpu};
    }
    if (!IsPart(job)) {
      break;
    }
  }
  return best;
}

class Experiment {
 public:
  Experiment(const PackingCluster& cluster, PackingPolicy policy, std::uint64_t seed)
      : policy_(policy), nodes_(cluster.nodes), mix_(TypicalMix(cluster.pods)), random_(seed) {
    for (const core::PackingClass& one : mix_) {
      jobs_ += static_cast<double>(one.count);
    }
    for (const PackingNode& node : nodes_) {
      all_ += Free(node.room);
    }
    Arrange(cluster.pods);
  }

  std::map<std::uint32_t, double> Run() {
    std::uint64_t arrived = 0;
    std::uint64_t allocated = 0;
    std::map<std::uint32_t, std::pair<double, std::uint64_t>> by_load;
    for (const PackingPod* pod : arrivals_) {
      arrived += GpuOf(*pod);
      allocated += Place(*pod) ? GpuOf(*pod) : 0;
      const auto load = static_cast<std::uint32_t>((arrived * 200 + all_) / (2 * all_));
      auto& [sum, count] = by_load[load];
      sum += 100 * static_cast<double>(allocated) / static_cast<double>(all_);
      ++count;
    }
    std::map<std::uint32_t, double> means;
    for (const auto& [load, of] : by_load) {
      means[load] = of.first / static_cast<double>(of.second);
    }
    return means;
  }

 private:
  // What is known of a kind of pod on each node; forgotten when something is placed there.
  struct Known {
    std::vector<std::uint8_t> fresh;
    std::vector<std::uint8_t> fits;
    std::vector<Score> scores;
  };

  void Arrange(const std::vector<PackingPod>& pods) {
    std::uint64_t load = 0;
    for (const PackingPod& pod : pods) {
      arrivals_.push_back(&pod);
      load += GpuOf(pod);
    }
    for (std::size_t i = arrivals_.size(); i > 1; --i) {
      std::swap(arrivals_[i - 1], arrivals_[random_.Below(i)]);
    }
    const bool any = load > 0;
    while (any) {
      const PackingPod& pod = pods[random_.Below(pods.size())];
      if ((load + GpuOf(pod)) * 100 > kLoadMost * all_) {
        return;
      }
      load += GpuOf(pod);
      arrivals_.push_back(&pod);
    }
  }

  [[nodiscard]] Score ScoreOf(const core::PackingRoom& room, const core::PackingClass& job) const {
    switch (policy_) {
      case PackingPolicy::kRandom:
        return {};
      case PackingPolicy::kBestFit:
        return BestFitScore(room, job);
      case PackingPolicy::kFgd:
        return FgdScore(room, job, mix_, jobs_);
      case PackingPolicy::kMuster: {
        const core::PackingChoice choice = core::CheapestGpu(room, job, mix_);
        return {-choice.cost, choice.gpu};
      }
    }
    return {};
  }

  bool Place(const PackingPod& pod) {
    Known& known = known_[KindOf(pod)];
    known.fresh.resize(nodes_.size(), 0);
    known.fits.resize(nodes_.size(), 0);
    known.scores.resize(nodes_.size());
    std::vector<std::size_t> open;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      if (known.fresh[i] == 0) {
        known.fresh[i] = 1;
        const bool fits =
            nodes_[i].memory_mib >= pod.memory_mib && core::Holds(nodes_[i].room, pod.job);
        known.fits[i] = fits ? 1 : 0;
        known.scores[i] = fits ? ScoreOf(nodes_[i].room, pod.job) : Score();
      }
      if (known.fits[i] != 0) {
        open.push_back(i);
      }
    }
    if (open.empty()) {
      return false;
    }
    const std::size_t node = policy_ == PackingPolicy::kRandom ? open[random_.Below(open.size())]
                                                               : Best(open, known.scores);
    const std::size_t gpu = policy_ == PackingPolicy::kRandom
                                ? RandomGpu(nodes_[node].room, pod.job)
                                : known.scores[node].gpu;
    nodes_[node].room = core::Without(std::move(nodes_[node].room), pod.job, gpu);
    nodes_[node].memory_mib -= pod.memory_mib;
    for (auto& [kind, of] : known_) {
      of.fresh[node] = 0;
    }
    return true;
  }

  // The first of the highest.
  [[nodiscard]] std::size_t Best(const std::vector<std::size_t>& open,
                                 const std::vector<Score>& scores) const {
    const auto below = [&scores](std::size_t a, std::size_t b) {
      return scores[a].value < scores[b].value;
    };
    const auto [low, high] = std::minmax_element(open.begin(), open.end(), below);
    const std::int64_t least = scores[*low].value;
    const std::int64_t range = scores[*high].value - least;
    if (policy_ != PackingPolicy::kBestFit || range == 0) {
      return *std::max_element(open.begin(), open.end(), below);
    }
    return *std::max_element(open.begin(), open.end(), [&](std::size_t a, std::size_t b) {
      return (scores[a].value - least) * 100 / range < (scores[b].value - least) * 100 / range;
    });
  }

  std::size_t RandomGpu(const core::PackingRoom& room, const core::PackingClass& job) {
    std::vector<std::size_t> open;
    for (std::size_t i = 0; i < room.gpus.size(); ++i) {
      if (room.gpus[i] >= job.gpu_milli) {
        open.push_back(i);
      }
    }
    return IsPart(job) ? open[random_.Below(open.size())] : 0;
  }

  PackingPolicy policy_;
  std::vector<PackingNode> nodes_;
  core::PackingMix mix_;
  double jobs_ = 0;  // that the mix counts
  std::uint64_t all_ = 0;
  sim::RandomSequence random_;
  std::vector<const PackingPod*> arrivals_;
  std::map<Kind, Known> known_;
};

}  // namespace

std::optional<PackingPolicy> PackingPolicyOf(const std::string& name) {
  for (const auto& [known, policy] :
       {std::pair("random", PackingPolicy::kRandom), std::pair("bestfit", PackingPolicy::kBestFit),
        std::pair("fgd", PackingPolicy::kFgd), std::pair("muster", PackingPolicy::kMuster)}) {
    if (name == known) {
      return policy;
    }
  }
  return std::nullopt;
}

core::PackingMix TypicalMix(const std::vector<PackingPod>& pods) {
  std::map<Kind, core::PackingClass> classes;
  for (const PackingPod& pod : pods) {
    PackingPod without_memory = pod;
    without_memory.memory_mib = 0;
    core::PackingClass& one = classes[KindOf(without_memory)];
    const std::uint64_t count = one.count + 1;
    one = pod.job;
    one.count = count;
  }
  std::vector<core::PackingClass> mix;
  for (const auto& [kind, one] : classes) {
    mix.push_back(one);
  }
  std::stable_sort(
      mix.begin(), mix.end(),
      [](const core::PackingClass& a, const core::PackingClass& b) { return a.count > b.count; });
  std::uint64_t counted = 0;
  std::size_t kept = 0;
  while (kept < mix.size() && counted * 100 < 95 * pods.size()) {
    counted += mix[kept++].count;
  }
  mix.resize(kept);
  return mix;
}

std::map<std::uint32_t, double> AllocatedByLoad(const PackingCluster& cluster, PackingPolicy policy,
                                                std::uint64_t seed) {
  return Experiment(cluster, policy, seed).Run();
}

}  // namespace muster::bench
