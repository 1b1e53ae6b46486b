#pragma once

// What events do to nodes and to what holds for all jobs: agents that come and go, drains,
// quarantine, health checks, policy, alerts, narrow links, a new epoch of the controller.
//
// Thread promise: writes the parts that it is given. REQUIRES of each: the event came from a
// handler on this very state. Invariants: those of state/invariants hold after each.

#include "scheduler/core/state/apply/state_parts.h"
#include "scheduler/model/change/event.h"

namespace muster::core {

void ApplyTo(StateParts& state, const EpochBegan& event);
void ApplyTo(StateParts& state, const NodeRegistered& event);
void ApplyTo(StateParts& state, const NodeLost& event);
void ApplyTo(StateParts& state, const NodeDrained& event);
void ApplyTo(StateParts& state, const NodeForgotten& event);
void ApplyTo(StateParts& state, const NodePowered& event);
void ApplyTo(StateParts& state, const AttemptQuarantined& event);
void ApplyTo(StateParts& state, const HealthCheckOrdered& event);
void ApplyTo(StateParts& state, const HealthCheckWanted& event);
void ApplyTo(StateParts& state, const HealthChecked& event);
void ApplyTo(StateParts& state, const PolicyChanged& event);
void ApplyTo(StateParts& state, const HalfLifeSet& event);
void ApplyTo(StateParts& state, const AlertBegan& event);
void ApplyTo(StateParts& state, const AlertEnded& event);
void ApplyTo(StateParts& state, const GpusOccupied& event);
void ApplyTo(StateParts& state, const LinkNarrowed& event);
void ApplyTo(StateParts& state, const GpuLayoutSet& event);

}  // namespace muster::core
