#pragma once

// What becomes of jobs on nodes whose maintenance begins (reservations with MAINT).
//
// So long before as a job may take to end, one that runs again when a node fails is told to end and
// runs again; an elastic one goes on with its other nodes. The rest are asked for a checkpoint, and
// run on. Jobs in the reservation itself stay. Thread promise: pure. Invariants: each is told once;
// an attempt that ends is told nothing.

#include "scheduler/core/state/cluster_state.h"
#include "scheduler/core/state/transition.h"
#include "scheduler/model/change/input.h"

namespace muster {

void MakeWayForMaintenance(const ClusterState& state, Time now, const PolicyConfig& config,
                           Turn& turn);

}  // namespace muster
