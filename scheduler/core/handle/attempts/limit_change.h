#pragma once

// Another time limit for a job that runs already: which user may give it, how much, and which nodes
// and programs hear of it.
//
// Invariants: a limit that CheckNewLimit cycles lies after what the attempt has used, and, where it
// is longer, within what its partition, its QOS, its accounts, its deadline and the reservations of
// its nodes allow.

#include "absl/status/status.h"
#include "scheduler/core/state/cluster_state.h"
#include "scheduler/core/state/transition.h"
#include "scheduler/model/change/command.h"
#include "scheduler/model/settings/scheduler_config.h"

namespace muster::core {

// Refuses `limit` for the job's attempt, with what stands against it. REQUIRES: it has one; the
// user who asks may change the job; `limit` is one that a job may be submitted with.
absl::Status CheckNewLimit(const ClusterState& state, const Job& job, Duration limit,
                           const UpdateJob& command, Time now, const SchedulerConfig& config);

// Has the supervisors of the attempt keep it. REQUIRES: as above.
void TellNewLimit(const Job& job, Duration limit, Time now, Transition& transition);

}  // namespace muster::core
