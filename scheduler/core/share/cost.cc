#include "scheduler/core/share/cost.h"

#include <algorithm>
#include <cstdint>

#include "absl/numeric/int128.h"

namespace muster::core {
namespace {

constexpr std::uint64_t kHourMs = 3'600'000;
constexpr std::uint64_t kKwhMj = 3'600'000'000;    // in millijoules
constexpr std::uint64_t kBillingUnit = 1'000'000;  // rates are in millionths
constexpr std::uint64_t kCostMax = std::uint64_t{1} << 63;

// Those that hold at that time. REQUIRES: there are some.
const PriceStep& StepAt(const Prices& prices, Time time) {
  const auto later =
      std::upper_bound(prices.steps.begin() + 1, prices.steps.end(), time,
                       [](Time moment, const PriceStep& step) { return moment < step.since; });
  return *(later - 1);
}

}  // namespace

Cost CostOf(const AttemptUse& attempt, const Prices& prices, Time now) {
  if (prices.steps.empty() || attempt.start_time == kNoTime) {
    return Cost();
  }
  const PriceStep& step = StepAt(prices, attempt.start_time);
  const Time end = attempt.end_time == kNoTime ? now : attempt.end_time;
  const Duration held = std::max(end - attempt.start_time - attempt.suspended, Duration(0));
  // Each term is of an hour, in millionths of the currency, times a GiB's bytes, so that memory is
  // exact. A price is below 2^50 and a count below 2^32: it takes 2^112 at most.
  const absl::uint128 gibibyte = kGibibyte.value();
  absl::uint128 hour = gibibyte * (absl::uint128(attempt.cpus) * step.cpu_hour +
                                   absl::uint128(attempt.gpus) * step.gpu_hour +
                                   absl::uint128(attempt.node_count) * step.node_hour);
  hour += absl::uint128(attempt.memory.value()) * step.memory_gib_hour;
  hour += absl::uint128(attempt.billing.value()) * step.billing_hour / kBillingUnit * gibibyte;
  const absl::uint128 most = kCostMax;
  const absl::uint128 time = static_cast<std::uint64_t>(held.count());
  const absl::uint128 energy =
      absl::uint128(attempt.usage.cpu_energy_mj + attempt.usage.gpu_energy_mj) * step.kwh / kKwhMj;
  // The whole and the rest apart: their product with the time would not fit in 128 bits.
  const absl::uint128 divisor = gibibyte * kHourMs;
  const absl::uint128 held_cost = hour / divisor * time + hour % divisor * time / divisor;
  return Cost(absl::Uint128Low64(std::min(held_cost + energy, most)));
}

}  // namespace muster::core
