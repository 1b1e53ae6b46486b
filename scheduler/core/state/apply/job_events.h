#pragma once

// What events do to jobs as wholes: submitted, held, promised, changed, requeued, ended.
//
// Thread promise: writes the parts that it is given. REQUIRES of each: the event came from a
// handler on this very state. Invariants: those of state/invariants hold after each.

#include "scheduler/core/state/apply/state_parts.h"
#include "scheduler/model/change/event.h"

namespace muster::core {

void ApplyTo(StateParts& state, const JobSubmitted& event);
void ApplyTo(StateParts& state, const JobHeld& event);
void ApplyTo(StateParts& state, const StartPromised& event);
void ApplyTo(StateParts& state, const JobUpdated& event);
void ApplyTo(StateParts& state, const JobRequeued& event);
void ApplyTo(StateParts& state, const JobEnded& event);

}  // namespace muster::core
