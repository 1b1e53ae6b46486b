#pragma once

// What becomes of jobs on nodes whose maintenance begins (reservations with MAINT).
//
// A job that runs again when a node fails is ordered to end, as long before as it may take to end,
// and runs again; an elastic one goes on with its other nodes. The rest are asked for a checkpoint,
// and run on. Jobs in the reservation itself stay. Invariants: each is ordered or asked once; an
// attempt that ends hears nothing.

#include <string>

#include "scheduler/core/state/cluster_state.h"
#include "scheduler/core/state/transition.h"
#include "scheduler/model/change/command.h"
#include "scheduler/model/job/job.h"
#include "scheduler/model/settings/scheduler_config.h"

namespace muster::core {

// Whether the job runs again, or goes on, without the node.
bool RunsOnElsewhere(const Job& job);

// Whether the job has no more time than its grace until it has to have left. REQUIRES: it has an
// attempt.
bool IsToLeaveSoon(const ClusterState& state, const Job& job, Time begin, Time now,
                   const SchedulerConfig& config);

// Orders the job to leave, or asks it for a checkpoint; false: that was done before.
bool HaveLeave(const Job& job, const std::string& why, Time now, Transition& transition);

void MakeWayForMaintenance(const ClusterState& state, Time now, const SchedulerConfig& config,
                           Transition& transition);

}  // namespace muster::core
