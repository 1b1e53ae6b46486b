#pragma once

// One transition of the scheduler: a command comes in, events to persist and effects to perform
// come out.
//
// The controller's loop and the simulator's are short loops round this function: handle, apply the
// events, make them durable, perform the effects. Invariants: (1) the events apply to the very
// state that was given, in order; (2) a refused command makes neither events nor effects; (3) a
// repeated command has one effect: retries by the client's token, reports by their number.

#include "scheduler/core/state/cluster_state.h"
#include "scheduler/core/state/transition.h"
#include "scheduler/model/change/command.h"
#include "scheduler/model/settings/scheduler_config.h"

namespace muster::core {

Transition Handle(const ClusterState& state, const Command& command, Time now,
                  const SchedulerConfig& config);

}  // namespace muster::core
