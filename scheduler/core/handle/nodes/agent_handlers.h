#pragma once

// The handlers of what agents send: registration, loss, reports. Part of core/handle, in a file of
// its own.
//
// Invariants: (1) a fact is acknowledged only when it is in the state or can never matter; (2) an
// attempt that an agent has and the state does not know is quarantined, never killed.

#include "scheduler/core/state/cluster_state.h"
#include "scheduler/core/state/transition.h"
#include "scheduler/model/change/command.h"
#include "scheduler/model/settings/scheduler_config.h"

namespace muster::core {

Transition On(const ClusterState& state, const RegisterAgent& command, Time now,
              const SchedulerConfig& config);
Transition On(const ClusterState& state, const LoseAgent& command, Time now,
              const SchedulerConfig& config);
Transition On(const ClusterState& state, const TakeReport& command, Time now,
              const SchedulerConfig& config);
Transition On(const ClusterState& state, const TakeNodeFault& command, Time now,
              const SchedulerConfig& config);
Transition On(const ClusterState& state, const TakeGpuOccupants& command, Time now,
              const SchedulerConfig& config);
Transition On(const ClusterState& state, const FailLaunch& command, Time now,
              const SchedulerConfig& config);

}  // namespace muster::core
