#include "scheduler/core/share/decay.h"

#include <algorithm>
#include <numeric>

#include "scheduler/base/status.h"
#include "scheduler/base/wide_number.h"

namespace muster::core {
namespace {

constexpr std::int64_t kPeriodHalfLives = 16;
// 1/ln 2 = 1 + kInverseLn2 / 2^64.
constexpr std::uint64_t kInverseLn2 = 0x7154'7652'b82f'e177;
// A rate in millionths a second times milliseconds is 10^-9: this makes it grains.
constexpr std::uint64_t kGrainsPerRateMillisecond = 1000;
constexpr std::uint64_t kGrainsPerShown = kGrainsPerSecond / 1'000'000;

std::int64_t FloorDivide(std::int64_t a, std::int64_t b) {
  return a / b - (a % b < 0 ? 1 : 0);
}

absl::uint128 ShiftRight(absl::uint128 value, std::int64_t bits) {
  return bits >= 128 ? absl::uint128(0) : value >> static_cast<int>(bits);
}

void CheckHalfLife(Duration half_life) {
  MUSTER_CHECK(half_life == Duration(0) ||
               (half_life >= kHalfLifeMin && half_life <= kHalfLifeMax));
}

std::int64_t PeriodAt(Time at, Duration half_life) {
  return half_life == Duration(0)
             ? 0
             : FloorDivide(at.time_since_epoch().count(), kPeriodHalfLives * half_life.count());
}

Time PeriodStart(std::int64_t period, Duration half_life) {
  return Time(period * kPeriodHalfLives * half_life);
}

// A duration as whole half-lives and the 2^-64ths of one that are left.
struct HalfLives {
  std::int64_t whole = 0;
  std::uint64_t fraction = 0;
};

HalfLives Count(Duration duration, Duration half_life) {
  const std::int64_t whole = FloorDivide(duration.count(), half_life.count());
  const auto rest = static_cast<std::uint64_t>(duration.count() - whole * half_life.count());
  const absl::uint128 fraction =
      (absl::uint128(rest) << 64) / static_cast<std::uint64_t>(half_life.count());
  return {whole, absl::Uint128Low64(fraction)};
}

// 2^((at - start) / H) in 2^-64ths.
absl::uint128 Growth(Time at, Time start, Duration half_life) {
  const HalfLives age = Count(at - start, half_life);
  const absl::uint128 power = absl::MakeUint128(1, PowerOfTwoFraction(age.fraction));
  return age.whole >= 0 ? power << static_cast<int>(age.whole) : ShiftRight(power, -age.whole);
}

absl::uint128 AtRate(BillingRate rate, absl::uint128 milliseconds) {
  return MultiplyShift64(milliseconds, rate.value() * kGrainsPerRateMillisecond);
}

// The integral of the rate 1 from long ago to `at`, as of `start`.
absl::uint128 Milliseconds(Time at, Time start, Duration half_life) {
  const absl::uint128 milliseconds =
      Growth(at, start, half_life) * static_cast<std::uint64_t>(half_life.count());
  return milliseconds + MultiplyShift64(milliseconds, kInverseLn2);
}

// The integral of `rate` from long ago to `at`, in grains at `start`: what Charge takes
// differences of.
absl::uint128 Integral(BillingRate rate, Time at, Time start, Duration half_life) {
  return AtRate(rate, Milliseconds(at, start, half_life));
}

absl::uint128 WithoutDecay(BillingRate rate, Time from, Time until) {
  return absl::uint128(rate.value()) * kGrainsPerRateMillisecond *
         static_cast<std::uint64_t>((until - from).count());
}

absl::uint128 RunGrains(const ChargedRun& run, std::int64_t period, Duration half_life) {
  if (run.until <= run.from) {
    return 0;
  }
  if (half_life == Duration(0)) {
    return WithoutDecay(run.rate, run.from, run.until);
  }
  const Time start = PeriodStart(period, half_life);
  return Integral(run.rate, run.until, start, half_life) -
         Integral(run.rate, run.from, start, half_life);
}

// `amount` of `period`, at `at`: amount * 2^-n * 2^-f as amount * 2^(1-f) * 2^-(n+1).
absl::uint128 Decayed(absl::uint128 amount, std::int64_t period, Time at, Duration half_life) {
  if (half_life == Duration(0)) {
    return amount;
  }
  const Time start = PeriodStart(period, half_life);
  const HalfLives age = Count(std::max(at, start) - start, half_life);
  if (age.fraction == 0) {
    return ShiftRight(amount, age.whole);
  }
  return ShiftRight(amount + MultiplyShift64(amount, PowerOfTwoFraction(0 - age.fraction)),
                    age.whole + 1);
}

ShownUsage Shown(absl::uint128 grains) {
  const absl::uint128 shown = grains / kGrainsPerShown;
  return ShownUsage(shown > absl::Uint128Max() >> 64 ? ~std::uint64_t{0}
                                                     : absl::Uint128Low64(shown));
}

// `grains` in millionths, so that they add up to `total`; see MakeReceipt. One unit at most is
// taken from or given to each, unless the grains are not those of the total.
std::vector<std::uint64_t> Apportion(const std::vector<absl::uint128>& grains,
                                     std::uint64_t total) {
  std::vector<std::uint64_t> parts;
  std::vector<std::size_t> order(grains.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&grains](std::size_t a, std::size_t b) {
    return grains[a] % kGrainsPerShown > grains[b] % kGrainsPerShown;
  });
  absl::uint128 sum = 0;
  for (const absl::uint128 each : grains) {
    parts.push_back(Shown(each).value());
    sum += parts.back();
  }
  for (std::size_t i = 0; i < order.size() && sum < total; ++i, ++sum) {
    ++parts[order[i]];
  }
  for (std::size_t i = order.size(); i-- > 0 && sum > total;) {
    const absl::uint128 less = std::min(sum - total, absl::uint128(parts[order[i]]));
    parts[order[i]] -= absl::Uint128Low64(less);
    sum -= less;
  }
  return parts;
}

}  // namespace

DecayedUsage UsageOf(absl::uint128 amount, std::int64_t period) {
  return {.period = period, .high = absl::Uint128High64(amount), .low = absl::Uint128Low64(amount)};
}

absl::uint128 AmountOf(const DecayedUsage& usage) {
  return absl::MakeUint128(usage.high, usage.low);
}

absl::uint128 AmountInPeriod(const DecayedUsage& usage, std::int64_t period) {
  MUSTER_CHECK(period >= usage.period);
  const std::int64_t passed = period - usage.period;
  return passed >= 128 ? absl::uint128(0) : ShiftRight(AmountOf(usage), passed * kPeriodHalfLives);
}

DecayedUsage Charge(const DecayedUsage& usage, const ChargedRun& run, Duration half_life) {
  CheckHalfLife(half_life);
  MUSTER_CHECK(run.rate.value() <= kBillingRateMax.value());
  if (run.until <= run.from) {
    return usage;
  }
  const std::int64_t period = std::max(usage.period, PeriodAt(run.until, half_life));
  return UsageOf(AmountInPeriod(usage, period) + RunGrains(run, period, half_life), period);
}

ChargingMoment::ChargingMoment(Time until, Duration half_life)
    : until_(until), half_life_(half_life), period_(PeriodAt(until, half_life)) {
  CheckHalfLife(half_life);
  if (half_life != Duration(0)) {
    milliseconds_ = Milliseconds(until, PeriodStart(period_, half_life), half_life);
  }
}

absl::uint128 ChargingMoment::Before(BillingRate rate, Time from) const {
  MUSTER_CHECK(rate.value() <= kBillingRateMax.value());
  return half_life_ == Duration(0)
             ? absl::uint128(0)
             : Integral(rate, from, PeriodStart(period_, half_life_), half_life_);
}

absl::uint128 ChargingMoment::Grains(BillingRate rate, Time from, absl::uint128 before) const {
  return half_life_ == Duration(0) ? WithoutDecay(rate, from, until_)
                                   : AtRate(rate, milliseconds_) - before;
}

DecayedUsage WithGrains(const DecayedUsage& usage, absl::uint128 grains, std::int64_t period) {
  return UsageOf(AmountInPeriod(usage, period) + grains, period);
}

absl::uint128 GrainsAt(const DecayedUsage& usage, Time at, Duration half_life) {
  CheckHalfLife(half_life);
  return Decayed(AmountOf(usage), usage.period, at, half_life);
}

ShownUsage ShownAt(const DecayedUsage& usage, Time at, Duration half_life) {
  return Shown(GrainsAt(usage, at, half_life));
}

UsageReceipt MakeReceipt(const DecayedUsage& usage, const std::vector<ChargedRun>& runs, Time at,
                         Duration half_life) {
  const absl::uint128 all = GrainsAt(usage, at, half_life);
  std::vector<absl::uint128> grains;
  absl::uint128 listed = 0;
  for (const ChargedRun& run : runs) {
    // A run may have ended in a later period than the usage was last charged in.
    const std::int64_t period = std::max(usage.period, PeriodAt(run.until, half_life));
    grains.push_back(Decayed(RunGrains(run, period, half_life), period, at, half_life));
    listed += grains.back();
  }
  grains.push_back(all > listed ? all - listed : absl::uint128(0));
  UsageReceipt receipt;
  receipt.total = Shown(all);
  const std::vector<std::uint64_t> parts = Apportion(grains, receipt.total.value());
  for (std::size_t i = 0; i < runs.size(); ++i) {
    receipt.lines.push_back({.job = runs[i].job, .part = ShownUsage(parts[i])});
  }
  receipt.earlier = ShownUsage(parts.back());
  return receipt;
}

DecayedUsage WithHalfLife(const DecayedUsage& usage, Time at, Duration before, Duration after) {
  const absl::uint128 grains = GrainsAt(usage, at, before);
  CheckHalfLife(after);
  if (after == Duration(0)) {
    return UsageOf(grains);
  }
  // grains * growth / 2^64, in two halves because the product has up to 208 bits.
  const std::int64_t period = PeriodAt(at, after);
  const absl::uint128 growth = Growth(at, PeriodStart(period, after), after);
  return UsageOf(
      grains * absl::Uint128High64(growth) + MultiplyShift64(grains, absl::Uint128Low64(growth)),
      period);
}

}  // namespace muster::core
