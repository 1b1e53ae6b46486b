#include "checkpoint/advice/levels.h"

#include <algorithm>
#include <cmath>

namespace muster::checkpoint {
namespace {

FailureModel ModelOf(const Level& level) {
  return {.cost_s = level.cost_s, .mtbf_s = level.mtbf_s, .restart_s = 0};
}

}  // namespace

LevelsPlan PlanLevels(const std::vector<Level>& levels) {
  LevelsPlan plan;
  for (const Level& level : levels) {
    const Interval interval = Young(ModelOf(level));
    if (!interval) {
      return {{}, 0, interval.error};
    }
    const double overhead = FirstOrderWaste(ModelOf(level), interval.value).value;
    plan.levels.push_back({interval.value, overhead});
    plan.overhead += overhead;
  }
  return plan;
}

LevelsPlan PlanNestedLevels(const std::vector<Level>& levels) {
  LevelsPlan plan = PlanLevels(levels);
  double free_below_s = 0;
  double below_s = 0;
  plan.overhead = 0;
  for (std::size_t i = 0; i < plan.levels.size(); ++i) {
    LevelPlan& level = plan.levels[i];
    const double free_s = level.interval_s;
    if (i > 0) {
      level.interval_s = below_s * static_cast<double>(NestedMultiple(free_s, free_below_s));
    }
    level.overhead = FirstOrderWaste(ModelOf(levels[i]), level.interval_s).value;
    plan.overhead += level.overhead;
    free_below_s = free_s;
    below_s = level.interval_s;
  }
  return plan;
}

std::uint64_t NestedMultiple(double above_s, double below_s) {
  constexpr double kMost = 1e15;  // beyond it a double is no whole number any more
  return static_cast<std::uint64_t>(std::clamp(std::round(above_s / below_s), 1.0, kMost));
}

}  // namespace muster::checkpoint
