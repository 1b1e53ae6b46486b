#pragma once

// The handlers of requests that change jobs in other ways than their first submission, their end or
// a hold: requeue and update. Part of core/handle.
//
// Invariants: as in step.h.

#include "scheduler/core/state/cluster_state.h"
#include "scheduler/core/state/transition.h"
#include "scheduler/model/change/command.h"
#include "scheduler/model/settings/scheduler_config.h"

namespace muster::core {

Transition On(const ClusterState& state, const RequeueJob& command, Time now,
              const SchedulerConfig& config);
Transition On(const ClusterState& state, const UpdateJob& command, Time now,
              const SchedulerConfig& config);

}  // namespace muster::core
