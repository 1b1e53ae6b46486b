#include "scheduler/core/share/priority.h"

#include <algorithm>
#include <limits>

#include "absl/numeric/int128.h"

namespace muster::core {
namespace {

constexpr std::int64_t kPriorityMax = std::numeric_limits<std::uint32_t>::max();
constexpr std::int64_t kAddendMax = 10 * (kPriorityMax + 1);

std::int64_t Bounded(std::int64_t addend) {
  return std::clamp(addend, -kAddendMax, kAddendMax);
}

PriorityTerm PlainTerm(const char* name, std::int64_t points) {
  return {.name = name, .weight = 0, .factor = Factor(), .points = points};
}

PriorityTerm FactorTerm(const WeightedFactor& weighted) {
  const Factor factor(std::min(weighted.factor.value(), kWholeFactor.value()));
  const std::uint64_t points =
      std::uint64_t{weighted.weight} * factor.value() / kWholeFactor.value();
  return {.name = weighted.name,
          .weight = weighted.weight,
          .factor = factor,
          .points = static_cast<std::int64_t>(points)};
}

}  // namespace

Priority MakePriority(const PriorityRequest& request) {
  Priority priority;
  if (request.held) {
    priority.terms.push_back(PlainTerm("held", 0));
    return priority;
  }
  priority.terms.push_back(PlainTerm("site", Bounded(request.site)));
  for (const WeightedFactor& weighted : request.factors) {
    priority.terms.push_back(FactorTerm(weighted));
  }
  priority.terms.push_back(PlainTerm("nice", -Bounded(request.nice)));
  std::int64_t sum = 0;
  for (const PriorityTerm& term : priority.terms) {
    sum += term.points;
  }
  const std::int64_t total = std::clamp<std::int64_t>(sum, 1, kPriorityMax);
  if (total != sum) {
    priority.terms.push_back(PlainTerm("bounds", total - sum));
  }
  priority.total = static_cast<std::uint32_t>(total);
  return priority;
}

Factor RatioFactor(std::uint64_t part, std::uint64_t whole) {
  if (whole == 0) {
    return {};
  }
  const absl::uint128 factor = absl::uint128(std::min(part, whole)) * kWholeFactor.value() / whole;
  return Factor(static_cast<std::uint32_t>(factor));
}

Factor AgeFactor(Duration waited, Duration max_age) {
  if (waited <= Duration(0)) {
    return {};
  }
  return max_age <= Duration(0) ? kWholeFactor
                                : RatioFactor(static_cast<std::uint64_t>(waited.count()),
                                              static_cast<std::uint64_t>(max_age.count()));
}

}  // namespace muster::core
