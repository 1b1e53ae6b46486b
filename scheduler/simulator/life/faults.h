#pragma once

// What goes wrong, and when: every chance of a simulation comes from one seeded sequence.
//
// Thread promise: none; one thread. Invariants: (1) the same seed and the same questions give the
// same answers, on every machine; (2) after Stop() nothing goes wrong any more, while delays go on.

#include <cstdint>

#include "scheduler/model/value/time.h"

namespace muster::sim {

// How often things go wrong. Thousandths are of the occasions named; a time of 0 means never.
struct FaultRates {
  Duration connection_lost_every{0};          // the mean time between two losses, over all agents
  Duration agent_dies_every{0};               // the mean time between two deaths, over all agents
  std::uint32_t record_lost = 0;              // thousandths of agents' deaths: set up again
  std::uint32_t reboot = 0;                   // thousandths of agents' deaths: the node went down
  Duration controller_dies_every{0};          // the mean time between two deaths
  std::uint32_t controller_dies_at_step = 0;  // thousandths of the points of DeathPoint passed
  std::uint32_t report_duplicated = 0;        // thousandths of reports
  std::uint32_t report_late = 0;     // thousandths of reports under way on a lost connection
  std::uint32_t reply_lost = 0;      // thousandths of replies to clients
  std::uint32_t launch_slow = 0;     // thousandths of launches
  std::uint32_t launch_fails = 0;    // thousandths of launches
  std::uint32_t lie = 0;             // thousandths of what agents tell
  std::uint32_t gpu_lost = 0;        // thousandths of reboots: the node comes back with one less
  std::uint32_t state_restored = 0;  // thousandths of controllers' deaths: an old copy takes over
  friend bool operator==(const FaultRates&, const FaultRates&) = default;
};

// Other rates for each seed: each is that one, half of it, four times as much, or none.
FaultRates DrawRates(const FaultRates& rates, std::uint64_t seed);

// Where, between an input and its effects, the controller can die.
enum class DeathPoint : std::uint8_t {
  kBeforeCommit,
  kInCommit,  // durable or not: unknown
  kAfterCommit,
  kBetweenEffects,
};

// What of a run went wrong; a scenario whose faults never happened has tested nothing.
struct FaultCounts {
  std::uint64_t connections_lost = 0;
  std::uint64_t agents_died = 0;
  std::uint64_t records_lost = 0;
  std::uint64_t reboots = 0;
  std::uint64_t power_lost = 0;  // of these
  std::uint64_t controllers_died = 0;
  std::uint64_t reports_duplicated = 0;
  std::uint64_t reports_late = 0;
  std::uint64_t replies_lost = 0;
  std::uint64_t lies = 0;
  std::uint64_t gpus_lost = 0;
  std::uint64_t states_restored = 0;
};

class Faults {
 public:
  Faults(std::uint64_t seed, FaultRates rates);

  // Uniform in [0, bound). REQUIRES: bound > 0.
  std::uint64_t Below(std::uint64_t bound);
  // Uniform in [low, high], in milliseconds.
  Duration Between(Duration low, Duration high);
  // True for `thousandths` of the questions.
  bool Chance(std::uint32_t thousandths);
  // The same, and never after Stop().
  bool Fault(std::uint32_t thousandths);
  // A time until the next fault of a kind that comes every `mean`. REQUIRES: mean > 0.
  Duration Until(Duration mean);

  // How long a message is under way.
  Duration MessageDelay();
  // From a launch order to the process.
  Duration LaunchDelay();
  bool DiesAt(DeathPoint point);

  void Stop() { stopped_ = true; }
  [[nodiscard]] bool stopped() const { return stopped_; }
  [[nodiscard]] const FaultRates& rates() const { return rates_; }
  FaultCounts& counts() { return counts_; }
  [[nodiscard]] const FaultCounts& counts() const { return counts_; }

 private:
  std::uint64_t Next();

  const FaultRates rates_;
  FaultCounts counts_;
  std::uint64_t state_;
  bool stopped_ = false;
};

}  // namespace muster::sim
