#pragma once

// Handlers for the steps of running jobs: to start one, to signal its ranks, to look on.
//
// Called by Step alone. Invariants: as Step's. A signal, and the wish to look on, change no state:
// they are effects without events.

#include "scheduler/core/state/cluster_state.h"
#include "scheduler/core/state/transition.h"
#include "scheduler/model/change/command.h"
#include "scheduler/model/settings/scheduler_config.h"

namespace muster::core {

Transition On(const ClusterState& state, const StartStep& command, Time now,
              const SchedulerConfig& config);
Transition On(const ClusterState& state, const SignalJob& command, Time now,
              const SchedulerConfig& config);
// Only the job's own user may look on.
Transition On(const ClusterState& state, const AttachStep& command, Time now,
              const SchedulerConfig& config);

}  // namespace muster::core
