#include "scheduler/core/state/tables/failure_rate.h"

#include <algorithm>
#include <chrono>
#include <cmath>

namespace muster::core {
namespace {

constexpr std::uint64_t kOneFailure = 1'000'000;
constexpr Duration kDay = std::chrono::hours(24);
constexpr Duration kOneCause = std::chrono::minutes(10);
constexpr double kPriorHours = 50'000;  // in which a class whose nodes never failed has one failure
constexpr double kPriorShare = 0.5;     // of losses, and of the other failures
constexpr double kTimesTheClass = 3;
constexpr std::int64_t kDaysMax = 1000;  // by then nothing is left

double Hours(Duration time) {
  return static_cast<double>(time.count()) / 3.6e6;
}

double Whole(std::uint64_t millionths) {
  return static_cast<double>(millionths) / static_cast<double>(kOneFailure);
}

double Failures(const FailureTally& tally) {
  return Whole(tally.failures);
}

// Its supervisor died, and all else of the node is there: what lies there can be used.
bool LeavesNothing(EndCause cause) {
  return IsNodeFailure(cause) && cause != EndCause::kLostSupervisor;
}

// The probability that a Poisson variable of this mean is at most `count`: that a Gamma variable of
// shape count + 1 is above `mean`.
double PoissonAtMost(std::uint64_t count, double mean) {
  double term = std::exp(-mean);
  double sum = term;
  for (std::uint64_t i = 1; i <= count; ++i) {
    term *= mean / static_cast<double>(i);
    sum += term;
  }
  return std::min(sum, 1.0);
}

}  // namespace

void Fade(FailureTally& tally, Time now) {
  if (tally.faded == kNoTime || now < tally.faded) {
    tally.faded = tally.faded == kNoTime ? now : tally.faded;
    return;
  }
  const std::int64_t days = (now - tally.faded) / kDay;
  for (std::int64_t i = 0; i < std::min(days, kDaysMax); ++i) {
    tally.failures -= tally.failures / 50;
    tally.losses -= tally.losses / 50;
    tally.exposure -= tally.exposure / 50;
  }
  tally.faded += days * kDay;
}

void NoteEnd(FailureTally& tally, EndCause cause, Duration ran, Time now) {
  Fade(tally, now);
  tally.exposure += std::max(ran, Duration(0));
  if (!IsNodeFailure(cause)) {
    return;
  }
  if (tally.failed == kNoTime || now - tally.failed > kOneCause) {
    tally.failures += kOneFailure;
    tally.losses += LeavesNothing(cause) ? kOneFailure : 0;
  }
  tally.failed = now;
}

double FailuresPerHour(const FailureTally& all_of_class) {
  return (1 + Failures(all_of_class)) / (kPriorHours + Hours(all_of_class.exposure));
}

double LossesPerHour(const FailureTally& all_of_class) {
  constexpr double kShares = 2 * kPriorShare;  // as much as the prior's one failure
  const double share =
      (kPriorShare + Whole(all_of_class.losses)) / (kShares + Failures(all_of_class));
  return FailuresPerHour(all_of_class) * share;
}

std::uint32_t SickPermille(const FailureTally& node, const std::vector<FailureTally>& others) {
  double failures = 1;
  double hours = kPriorHours;
  for (const FailureTally& other : others) {
    failures += Failures(other);
    hours += Hours(other.exposure);
  }
  const double rate = failures / hours;  // of the class, for an hour
  // The node's posterior is Gamma(1 + its failures, 1 / rate + its hours); whole failures count.
  const double bound = kTimesTheClass * rate * (1 / rate + Hours(node.exposure));
  const auto seen = node.failures / kOneFailure;
  return static_cast<std::uint32_t>(1000 * PoissonAtMost(seen, bound));
}

}  // namespace muster::core
