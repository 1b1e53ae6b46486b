#pragma once

// Usage that halves with each half-life, exactly, however often it is read.
//
// A run at rate r over [a, b) is worth, at time t, r H/ln2 (2^((b-t)/H) - 2^((a-t)/H)): the
// integral of r 2^((s-t)/H). Instead of multiplying what is stored at each tick, a run is added
// scaled to a fixed instant, the beginning of a period of 16 half-lives ("forward decay", Cormode,
// Shkapenyuk, Srivastava, Xu, ICDE 2009), and reading scales it back: time going by changes
// nothing that is stored. The integral is a difference of two values of one function, so the parts
// of a run that is charged in pieces add up to the run charged at once, to the last bit within a
// period, and to a grain (10^-12 s) for each period that passes. Integers only, so that every
// machine decides alike. Slurm multiplies by 1 - 0.693/H at each PriorityCalcPeriod instead: after
// seven days 0.5000734 is left of 1, not 0.5, and with a period of a day new usage is 5 % short.
//
// A half-life of 0 means no decay; others are from 1 s to 10 years.

#include <cstdint>
#include <vector>

#include "absl/numeric/int128.h"
#include "scheduler/model/policy/decayed_usage.h"
#include "scheduler/model/value/time.h"

namespace muster::core {

inline constexpr Duration kHalfLifeMin{1000};
inline constexpr Duration kHalfLifeMax = std::chrono::hours(24 * 3653);

// `usage` with `run` added. A run that does not end after it begins adds nothing: a clock that
// went back neither takes away nor charges twice. A running job is charged from where it was
// charged last up to now, at any moments. REQUIRES: run.rate <= kBillingRateMax.
DecayedUsage Charge(const DecayedUsage& usage, const ChargedRun& run, Duration half_life);

// Many runs charged up to one moment, as Charge() would each. REQUIRES: as Charge().
class ChargingMoment {
 public:
  ChargingMoment(Time until, Duration half_life);
  // The period that the moment lies in: grains are worth what they say at its beginning.
  [[nodiscard]] std::int64_t period() const { return period_; }
  // The integral up to where a run begins: the same at every moment of a period.
  [[nodiscard]] absl::uint128 Before(BillingRate rate, Time from) const;
  // What the run adds; `before` is Before(rate, from). REQUIRES: it begins before the moment.
  [[nodiscard]] absl::uint128 Grains(BillingRate rate, Time from, absl::uint128 before) const;

 private:
  Time until_;
  Duration half_life_;
  std::int64_t period_ = 0;
  absl::uint128 milliseconds_ = 0;  // the integral up to the moment, of the rate 1
};

// `usage` with `grains` of `period` more. REQUIRES: period >= usage.period.
DecayedUsage WithGrains(const DecayedUsage& usage, absl::uint128 grains, std::int64_t period);

// What `usage` is worth at `at`, in grains, rounded down. A moment before the usage's period
// counts as its beginning.
absl::uint128 GrainsAt(const DecayedUsage& usage, Time at, Duration half_life);

// As GrainsAt, in millionths of a billing-second, rounded down: the number that is shown.
ShownUsage ShownAt(const DecayedUsage& usage, Time at, Duration half_life);

// What is left at `at` of each of `runs`, all of which were charged to `usage` with this half-life,
// and of the others. The parts are exact ones rounded so that they add up to ShownAt(usage): all
// rounded down, then one millionth more for those with the largest remainders, the first of equals
// first (the largest-remainder method of apportionment; `earlier` counts as the last).
UsageReceipt MakeReceipt(const DecayedUsage& usage, const std::vector<ChargedRun>& runs, Time at,
                         Duration half_life);

// `usage`, worth the same at `at`, for a cluster whose half-life changes at that moment.
DecayedUsage WithHalfLife(const DecayedUsage& usage, Time at, Duration before, Duration after);

// The amount of `usage` at the beginning of `period`. REQUIRES: period >= usage.period.
absl::uint128 AmountInPeriod(const DecayedUsage& usage, std::int64_t period);

// An amount as a value, and back.
DecayedUsage UsageOf(absl::uint128 amount, std::int64_t period = 0);
absl::uint128 AmountOf(const DecayedUsage& usage);

}  // namespace muster::core
