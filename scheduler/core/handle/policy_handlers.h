#pragma once

// The handlers that change policy: by an administrator, and by the configuration. Part of
// core/handle, in a file of its own.
//
// Invariants: (1) the policy after the transition has no problem (core/policy/policy_check); (2)
// what jobs or other objects need is not deleted; (3) what changes nothing makes no event.

#include "scheduler/core/state/cluster_state.h"
#include "scheduler/core/state/transition.h"
#include "scheduler/model/change/command.h"
#include "scheduler/model/settings/scheduler_config.h"

namespace muster::core {

Transition On(const ClusterState& state, const ChangePolicy& command, Time now,
              const SchedulerConfig& config);
// All of it, or nothing: the first problem is the error and the policy stays as it was.
Transition On(const ClusterState& state, const ConfigurePolicy& command, Time now,
              const SchedulerConfig& config);

// Gives a reservation by count its nodes: free of other reservations and, unless it ignores jobs,
// of jobs that would still run by then; the lowest ids.
absl::Status ChooseNodes(const ClusterState& state, Time now, Reservation* reservation);

}  // namespace muster::core
