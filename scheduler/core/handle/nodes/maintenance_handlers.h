#pragma once

// What becomes of jobs on nodes whose maintenance begins (reservations with MAINT).
//
// A job that runs again when a node fails is ordered to end, as long before as it may take to end,
// and runs again; an elastic one goes on with its other nodes. The rest are asked for a checkpoint,
// and run on. Jobs in the reservation itself stay. Thread promise: pure. Invariants: each is
// ordered or asked once; an attempt that ends hears nothing.

#include "scheduler/core/state/cluster_state.h"
#include "scheduler/core/state/transition.h"
#include "scheduler/model/change/command.h"

namespace muster::core {

void MakeWayForMaintenance(const ClusterState& state, Time now, const SchedulerConfig& config,
                           Transition& transition);

}  // namespace muster::core
