#pragma once

// Which GPUs MIG should divide otherwise, so that jobs without a place in the plan start.
//
// A second plan of the same moment is made as if these GPUs were divided so, and what is asked for
// is what the job really gets there. GPUs in use are asked for by the first job alone that waits
// for GPUs: nobody gets them once their jobs have ended, until they are divided. Pure. Invariants:
// (1) what is asked for delays no start of the plan, and no place of a job before that one in the
// queue; (2) a GPU whose layout was ordered, or made for a job that has not had its turn, is asked
// for by no other; (3) GPUs that are used keep their positions.

#include <vector>

#include "scheduler/model/plan/plan.h"
#include "scheduler/model/plan/snapshot.h"
#include "scheduler/model/settings/scheduler_config.h"

namespace muster::core {

// By queue, node and GPU. Of the first jobs of the queue, as many as a bounded effort allows.
// REQUIRES: the plan is of the snapshot.
std::vector<GpuWish> GpusWanted(const Snapshot& snapshot, const Plan& plan,
                                const SchedulerConfig& config);

}  // namespace muster::core
