#include "scheduler/simulator/life/faults.h"

#include <algorithm>
#include <iterator>

#include "scheduler/base/status.h"

namespace muster::sim {
namespace {

constexpr Duration kSlowLaunchMin{5'000};
constexpr Duration kSlowLaunchMax{60'000};

}  // namespace

FaultRates DrawRates(const FaultRates& rates, std::uint64_t seed) {
  constexpr std::uint32_t kAlways = 1000;
  Faults drawn(~seed, FaultRates());
  FaultRates own = rates;
  for (Duration* every :
       {&own.connection_lost_every, &own.agent_dies_every, &own.controller_dies_every}) {
    const Duration choices[] = {*every, *every * 2, *every / 4, Duration(0)};
    *every = choices[drawn.Below(std::size(choices))];
  }
  for (std::uint32_t* rate :
       {&own.record_lost, &own.reboot, &own.controller_dies_at_step, &own.report_duplicated,
        &own.report_late, &own.reply_lost, &own.launch_slow, &own.launch_fails, &own.lie,
        &own.gpu_lost, &own.state_restored}) {
    const std::uint32_t choices[] = {*rate, *rate / 2, std::min(*rate * 4, kAlways), 0};
    *rate = choices[drawn.Below(std::size(choices))];
  }
  return own;
}

Faults::Faults(std::uint64_t seed, FaultRates rates) : rates_(rates), state_(seed) {}

// SplitMix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, 2014).
std::uint64_t Faults::Next() {
  state_ += 0x9e3779b97f4a7c15U;
  std::uint64_t z = state_;
  z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31U);
}

std::uint64_t Faults::Below(std::uint64_t bound) {
  MUSTER_CHECK(bound > 0);
  return Next() % bound;
}

Duration Faults::Between(Duration low, Duration high) {
  MUSTER_CHECK(low <= high);
  const auto width = static_cast<std::uint64_t>((high - low).count()) + 1;
  return low + Duration(static_cast<Duration::rep>(Below(width)));
}

bool Faults::Chance(std::uint32_t thousandths) {
  return Below(1000) < thousandths;
}

bool Faults::Fault(std::uint32_t thousandths) {
  return !stopped_ && thousandths > 0 && Chance(thousandths);
}

Duration Faults::Until(Duration mean) {
  return Between(Duration(1), mean * 2);
}

Duration Faults::MessageDelay() {
  return Chance(50) ? Between(Duration(20), Duration(2'000)) : Between(Duration(0), Duration(20));
}

Duration Faults::LaunchDelay() {
  return Fault(rates_.launch_slow) ? Between(kSlowLaunchMin, kSlowLaunchMax)
                                   : Between(Duration(1), Duration(50));
}

bool Faults::DiesAt(DeathPoint point) {
  // Effects are many to a commit: there the chance of each is smaller.
  const std::uint32_t rate = rates_.controller_dies_at_step;
  return Fault(point == DeathPoint::kBetweenEffects ? (rate + 3) / 4 : rate);
}

}  // namespace muster::sim
