#pragma once

// Which nodes jobs without a place in the plan would start on, were all nodes on.
//
// A plan has places for the first waiting jobs alone. Those behind start when they find room, and
// find none on a node that is off, so that they are asked for by a second plan: of the same
// moment, as if the nodes that are off were on. Pure. Invariants: (1) a job that has a place, or
// starts, asks for nothing; (2) what a job asks for is enough for it to start, and delays no job
// before it; (3) no more nodes of a class are asked for than may be on at once beside those that
// are.

#include <vector>

#include "scheduler/model/plan/plan.h"
#include "scheduler/model/plan/snapshot.h"
#include "scheduler/model/settings/scheduler_config.h"
#include "scheduler/model/value/ids.h"

namespace muster::core {

// By id: the nodes that are off, and those on that go with them. Of the first jobs of the queue, as
// many as a bounded effort allows. REQUIRES: the plan is of the snapshot.
std::vector<NodeId> NodesWanted(const Snapshot& snapshot, const Plan& plan,
                                const SchedulerConfig& config);

}  // namespace muster::core
