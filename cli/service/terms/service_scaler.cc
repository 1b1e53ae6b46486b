#include "cli/service/terms/service_scaler.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace muster::cli {
namespace {

constexpr double kTolerance = 0.1;
// The sum of numbers that are equal to the target is not exactly their number times it.
constexpr double kRounding = 1e-9;
constexpr std::uint32_t kGrowth = 2;
constexpr std::uint32_t kGrowthLeast = 4;

// What is needed without bounds; `replicas` where nothing says that they are too few or too many.
double Needed(const ScaleRule& rule, double replicas, const std::vector<double>& said) {
  const auto speaking = static_cast<double>(said.size());
  const double silent = std::max(replicas - speaking, 0.0);
  const double sum = std::accumulate(said.begin(), said.end(), 0.0);
  const bool more = sum > speaking * rule.target;
  const double load = (sum + (more ? 0.0 : silent * rule.target)) / rule.target;  // in replicas
  const double ratio = load / replicas;
  const bool matters = more ? ratio > 1 + kTolerance : ratio < 1 - kTolerance;
  return matters ? std::ceil(load - kRounding * replicas) : replicas;
}

}  // namespace

std::uint32_t NeededReplicas(const ScaleRule& rule, std::uint32_t replicas,
                             const std::vector<double>& said) {
  const std::uint32_t most =
      std::min(rule.most, std::max(kGrowth * replicas, replicas + kGrowthLeast));
  const double needed =
      said.empty() || replicas == 0 ? replicas : Needed(rule, static_cast<double>(replicas), said);
  return static_cast<std::uint32_t>(std::clamp(needed, static_cast<double>(rule.least),
                                               static_cast<double>(std::max(rule.least, most))));
}

std::uint32_t ServiceScaler::Choose(const ScaleRule& rule, std::uint32_t replicas,
                                    const std::vector<double>& said, SteadyTime now) {
  if (needs_.empty()) {  // of the time before nothing is known: what there was may have been needed
    needs_.push_back({now, replicas});
  }
  while (!needs_.empty() && needs_.front().time + rule.settle <= now) {
    needs_.pop_front();
  }
  const std::uint32_t needed = NeededReplicas(rule, replicas, said);
  needs_.push_back({now, needed});
  std::uint32_t highest = needed;
  for (const Need& need : needs_) {
    highest = std::max(highest, need.replicas);
  }
  const std::uint32_t chosen = needed >= replicas ? needed : std::min(replicas, highest);
  return std::clamp(chosen, rule.least, rule.most);
}

}  // namespace muster::cli
