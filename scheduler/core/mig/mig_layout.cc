#include "scheduler/core/mig/mig_layout.h"

#include <algorithm>
#include <utility>

namespace muster::core {
namespace {

// What GPUs have is searched through; what a false agent says is not searched for ever.
constexpr std::uint32_t kStepsMost = 200'000;

// Fills memory slices from the first on, with an instance or with nothing, and keeps the best.
class LayoutSearch {
 public:
  LayoutSearch(const std::vector<MigProfile>& profiles, const std::vector<MigDemand>& demands,
               const std::vector<MigLayout>& allowed)
      : profiles_(profiles), demands_(demands), allowed_(allowed), counts_(profiles.size(), 0) {
    for (std::size_t i = 0; i < profiles.size(); ++i) {
      compute_ = std::max(compute_, profiles[i].slices);
      for (const MigPlacement& placement : profiles[i].placements) {
        slices_ = std::max(slices_, placement.start + placement.size);
      }
      if (MayUse(profiles[i])) {
        usable_.push_back(i);
      }
    }
    // The largest first: of equal layouts the first that is found counts.
    std::stable_sort(usable_.begin(), usable_.end(), [&profiles](std::size_t a, std::size_t b) {
      return profiles[a].slices > profiles[b].slices;
    });
  }

  std::optional<std::vector<MigInstance>> Find() {
    FillFrom(0);
    return best_score_.empty() ? std::nullopt : std::optional(std::move(best_));
  }

 private:
  // Profiles with engines of their own ("+me") and those without are for who names them.
  [[nodiscard]] bool MayUse(const MigProfile& profile) const {
    const bool is_asked =
        std::any_of(demands_.begin(), demands_.end(),
                    [&profile](const MigDemand& demand) { return demand.profile == profile.name; });
    return is_asked || !allowed_.empty() || profile.name.find_first_of("+-") == std::string::npos;
  }

  void FillFrom(std::uint32_t slice) {
    if (++steps_ > kStepsMost) {
      return;
    }
    if (slice >= slices_) {
      Consider();
      return;
    }
    for (const std::size_t i : usable_) {
      const MigProfile& profile = profiles_[i];
      if (counts_[i] == profile.instances || used_ + profile.slices > compute_) {
        continue;
      }
      for (const MigPlacement& placement : profile.placements) {
        if (placement.start == slice) {
          current_.push_back({profile.name, profile.id, placement});
          ++counts_[i];
          used_ += profile.slices;
          FillFrom(slice + placement.size);
          used_ -= profile.slices;
          --counts_[i];
          current_.pop_back();
        }
      }
    }
    FillFrom(slice + 1);
  }

  [[nodiscard]] bool IsAllowed() const {
    std::vector<std::string> names;
    for (const MigInstance& instance : current_) {
      names.push_back(instance.profile);
    }
    std::sort(names.begin(), names.end());
    return std::any_of(allowed_.begin(), allowed_.end(), [&names](const MigLayout& layout) {
      return std::is_permutation(names.begin(), names.end(), layout.profiles.begin(),
                                 layout.profiles.end());
    });
  }

  [[nodiscard]] std::uint32_t CountOf(const std::string& profile) const {
    return static_cast<std::uint32_t>(std::count_if(
        current_.begin(), current_.end(),
        [&profile](const MigInstance& instance) { return instance.profile == profile; }));
  }

  void Consider() {
    std::vector<std::uint32_t> score;
    for (const MigDemand& demand : demands_) {
      score.push_back(std::min(CountOf(demand.profile), demand.count));
    }
    std::uint32_t memory = 0;
    for (const MigInstance& instance : current_) {
      memory += instance.placement.size;
    }
    const auto kinds = static_cast<std::uint32_t>(std::count_if(
        counts_.begin(), counts_.end(), [](std::uint32_t count) { return count > 0; }));
    score.push_back(used_);
    score.push_back(memory);
    score.push_back(UINT32_MAX - kinds);
    score.push_back(UINT32_MAX - static_cast<std::uint32_t>(current_.size()));
    if (score.front() > 0 && score > best_score_ && (allowed_.empty() || IsAllowed())) {
      best_score_ = std::move(score);
      best_ = current_;
    }
  }

  const std::vector<MigProfile>& profiles_;
  const std::vector<MigDemand>& demands_;
  const std::vector<MigLayout>& allowed_;
  std::vector<std::size_t> usable_;
  std::uint32_t slices_ = 0;
  std::uint32_t compute_ = 0;
  std::uint32_t used_ = 0;  // of the multiprocessors' slices
  std::uint32_t steps_ = 0;
  std::vector<std::uint32_t> counts_;  // parallel to profiles_
  std::vector<MigInstance> current_;
  std::vector<MigInstance> best_;
  std::vector<std::uint32_t> best_score_;
};

}  // namespace

std::optional<std::vector<MigInstance>> FindLayout(const std::vector<MigProfile>& profiles,
                                                   const std::vector<MigDemand>& demands,
                                                   const std::vector<MigLayout>& allowed) {
  if (demands.empty() || demands.front().count == 0) {
    return std::nullopt;
  }
  return LayoutSearch(profiles, demands, allowed).Find();
}

}  // namespace muster::core
