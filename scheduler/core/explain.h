#pragma once

// The long answer to "why does my job wait": the reason of the last pass, and what each node lacks.
//
// Thread promise: pure.

#include "scheduler/model/explanation.h"
#include "scheduler/model/plan.h"
#include "scheduler/model/snapshot.h"

namespace muster {

// REQUIRES: the job waits in the snapshot. The plan may be of an older one.
Explanation ExplainWaiting(const Snapshot& snapshot, JobId job, const Plan& plan);

}  // namespace muster
