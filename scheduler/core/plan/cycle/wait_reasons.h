#pragma once

// Why a job that nothing but resources keeps waiting does not start now: a reservation, switches, a
// job before it in the queue, or the nodes.
//
// Thread promise: none; owned by one cycle. Invariants: a job that MayTry refuses would not start.

#include <optional>

#include "scheduler/core/plan/queue/queue_blockers.h"
#include "scheduler/core/plan/start/cycle_state.h"
#include "scheduler/core/plan/start/shape_verdicts.h"
#include "scheduler/model/plan/reason.h"

namespace muster::core {

class WaitReasons {
 public:
  // REQUIRES: the cycle outlives it.
  explicit WaitReasons(CycleState& cycle);

  [[nodiscard]] ShapeVerdicts& verdicts() { return verdicts_; }
  [[nodiscard]] QueueBlockers& blockers() { return blockers_; }

  // False when it is known that the option does not start now.
  [[nodiscard]] bool MayTry(const StartOption& option);
  // That it could start on more leaf switches than it asks for; nothing when it could not.
  [[nodiscard]] std::optional<Reason> WhySwitches(const WaitingJob& job, const StartOption& option);
  // REQUIRES: the option does not start now.
  [[nodiscard]] Reason WhyBlocked(const WaitingJob& job, const StartOption& option);
  // Why a component could not start now if it were alone; nothing when it could.
  [[nodiscard]] std::optional<Reason> WhyNotAlone(const WaitingJob& job, const OptionList& options);

 private:
  CycleState& cycle_;
  ShapeVerdicts verdicts_;
  QueueBlockers blockers_;
};

}  // namespace muster::core
