#pragma once

// The waiting jobs of a snapshot: made from the state, or brought up to date from an older list.
//
// Invariants: the same state and the same `now` make the same list, in queue order, by either way.

#include <vector>

#include "scheduler/core/plan/touched_jobs.h"
#include "scheduler/core/state/cluster_state.h"
#include "scheduler/model/plan/snapshot.h"
#include "scheduler/model/value/ids.h"
#include "scheduler/model/value/time.h"

namespace muster::core {

// The elements of an array that nobody has touched stand in one entry, but for those that differ in
// more than their index.
std::vector<WaitingJob> WaitingOf(const ClusterState& state, Time now);

// Brings `waiting`, as it was at `since`, up to date by the jobs that were touched since then.
// False when they are too many, or not known: the list is then to be built whole.
bool UpdateWaiting(const ClusterState& state, const TouchedJobs& touched, Version since, Time now,
                   std::vector<WaitingJob>& waiting);

}  // namespace muster::core
