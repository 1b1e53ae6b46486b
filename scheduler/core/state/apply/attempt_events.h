#pragma once

// What events do to the attempt of a job: started, reported on, suspended, ending, and its steps.
//
// Thread promise: writes the parts that it is given. REQUIRES of each: the event came from a
// handler on this very state. Invariants: those of state/invariants hold after each.

#include "scheduler/core/state/apply/state_parts.h"
#include "scheduler/model/change/event.h"

namespace muster::core {

void ApplyTo(StateParts& state, const AttemptStarted& event);
void ApplyTo(StateParts& state, const RunReported& event);
void ApplyTo(StateParts& state, const AttemptAdvised& event);
void ApplyTo(StateParts& state, const AttemptSuspending& event);
void ApplyTo(StateParts& state, const AttemptSuspended& event);
void ApplyTo(StateParts& state, const AttemptResumed& event);
void ApplyTo(StateParts& state, const AttemptEnding& event);
void ApplyTo(StateParts& state, const StepStarted& event);
void ApplyTo(StateParts& state, const StepQueued& event);
void ApplyTo(StateParts& state, const StepDropped& event);

}  // namespace muster::core
