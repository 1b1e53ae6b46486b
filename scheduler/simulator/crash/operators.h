#pragma once

// Simulated operators: what they, and the nodes' own watchers, do to nodes, links, reservations and
// the site's policy.
//
// Thread promise: none; one thread. Invariant: after LiftAll nothing of theirs keeps a job waiting.

#include <cstdint>
#include <string>
#include <vector>

#include "scheduler/model/change/command.h"
#include "scheduler/model/value/time.h"
#include "scheduler/simulator/crash/requests.h"
#include "scheduler/simulator/life/virtual_clock.h"
#include "scheduler/simulator/random_sequence.h"

namespace muster::sim {

// What they have to work with.
struct OperatorPlan {
  std::uint32_t nodes = 0;
  std::uint32_t acts = 0;
  Duration active{0};  // they act within this time from the start
  std::uint64_t seed = 0;
};

class Operators {
 public:
  Operators(VirtualClock& clock, Requests& requests, const OperatorPlan& plan)
      : clock_(clock), requests_(requests), plan_(plan), random_(plan.seed) {}
  Operators(const Operators&) = delete;
  Operators& operator=(const Operators&) = delete;

  void Start();
  void LiftAll();

 private:
  [[nodiscard]] Command DrawAct();
  [[nodiscard]] Command DrawDrain();
  [[nodiscard]] Command DrawLink();
  [[nodiscard]] Command DrawReboot();
  [[nodiscard]] Command DrawAlerts();
  [[nodiscard]] Command DrawNews();
  [[nodiscard]] Command DrawReservation();
  [[nodiscard]] Command DrawPower();
  [[nodiscard]] std::string DrawNode();
  [[nodiscard]] NodeId DrawNodeId();

  VirtualClock& clock_;
  Requests& requests_;
  const OperatorPlan plan_;
  RandomSequence random_;
};

}  // namespace muster::sim
