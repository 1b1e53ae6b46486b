#pragma once

// Explain: the long answer to "why does my job wait": the reason of the last cycle, the jobs before
// it, and what each node lacks.
//
// Asked for by a user, so it may look at every node. Invariants: a node "fits" exactly when it can
// take the job's share as it is.

#include "scheduler/model/plan/explanation.h"
#include "scheduler/model/plan/plan.h"
#include "scheduler/model/plan/snapshot.h"
#include "scheduler/model/settings/scheduler_config.h"

namespace muster::core {

// Why the job waits, by the plan that was made last (of this snapshot or an older one) and the
// nodes of the snapshot. The explanation of a job that is not in the snapshot has a summary only.
Explanation ExplainWaiting(const Snapshot& snapshot, JobId job, const Plan& plan,
                           const SchedulerConfig& config = SchedulerConfig());

}  // namespace muster::core
