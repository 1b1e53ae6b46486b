#pragma once

// What reports and steps do to an attempt, and what its nodes' runs say in all.
//
// Thread promise: pure functions of their arguments; what they change is the attempt they are
// given. Invariants: a run never goes back to an earlier phase.

#include <cstddef>
#include <optional>

#include "scheduler/model/change/event.h"
#include "scheduler/model/job/job.h"
#include "scheduler/model/job/report.h"
#include "scheduler/model/machine/allocation.h"

namespace muster::core {

// The number of an attempt's first advice, which comes with its launch orders.
inline constexpr std::uint32_t kFirstAdvice = 1;
// How many bindings a run keeps of ranks that are over, and the first of each verdict.
inline constexpr std::size_t kBindingsKept = 64;

// What a report does to an attempt; shared by Apply and by Step, which looks one report ahead.
void TakeInReport(Attempt& attempt, NodeId node, const Report& report);
// Likewise what becomes of its steps.
void TakeInStep(Attempt& attempt, const StepStarted& event);
void TakeInStep(Attempt& attempt, const StepQueued& event);
void TakeInStep(Attempt& attempt, const StepDropped& event);
// The position of the node's run in the attempt, or nothing.
std::optional<std::size_t> RunOn(const Attempt& attempt, NodeId node);
// True when every node's run has started (or ended).
bool AllStarted(const Attempt& attempt);
bool AllEnded(const Attempt& attempt);
// True when it was ordered to freeze and every node on which it has not ended reports that it is.
bool AllFrozen(const Attempt& attempt);
// What it holds of the node at that position: without its cores while they are given back.
NodeAllocation HeldPart(const Attempt& attempt, std::size_t position);

// What is left of the job's limit for the attempt after `attempt`, which ends at `now`.
JobSpec ForTheRest(JobSpec spec, const Attempt& attempt, Time now);

}  // namespace muster::core
