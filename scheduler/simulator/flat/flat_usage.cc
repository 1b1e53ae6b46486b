#include "scheduler/simulator/flat/flat_usage.h"

#include <chrono>

#include "scheduler/core/share/decay.h"

namespace muster::sim {
namespace {

constexpr Duration kHalfLife = std::chrono::hours(24 * 7);
constexpr std::uint64_t kRateOfProcessor = 1'000'000;  // a billing unit

Time MomentOf(Tick tick) {
  return Time(std::chrono::seconds(tick));
}

}  // namespace

void FlatUsage::Charge(std::int64_t user, std::int64_t processors, Tick from, Tick until) {
  ChargedRun run;
  run.rate = BillingRate(static_cast<std::uint64_t>(processors) * kRateOfProcessor);
  run.from = MomentOf(from);
  run.until = MomentOf(until);
  DecayedUsage& usage = of_[user];
  usage = muster::core::Charge(usage, run, kHalfLife);
}

std::uint64_t FlatUsage::At(std::int64_t user, Tick now) const {
  const auto found = of_.find(user);
  return found == of_.end()
             ? 0
             : static_cast<std::uint64_t>(core::GrainsAt(found->second, MomentOf(now), kHalfLife) /
                                          kGrainsPerSecond);
}

}  // namespace muster::sim
