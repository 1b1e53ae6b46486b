#pragma once

// Explain: for a waiting job what each node lacks and who is before it; for a running one where its
// ranks are.
//
// Asked for by a user, so it may look at every node. Thread promise: pure. Invariants: a node
// "fits" exactly when it can take the job's share as it is.

#include "scheduler/core/cluster_state.h"
#include "scheduler/model/explanation.h"
#include "scheduler/model/plan.h"
#include "scheduler/model/snapshot.h"

namespace muster {

// Why the job waits, by the plan that was made last and the nodes of the snapshot. A job that is
// not in the snapshot does not wait: its explanation has a summary only.
Explanation ExplainWaiting(const Snapshot& snapshot, JobId job, const Plan& plan);

// The same from the state as it is; for a job that holds resources, where its ranks are. `plan` may
// be null when no pass has run.
Explanation ExplainJob(const ClusterState& state, const Job& job, const Plan* plan, Time now);

}  // namespace muster
