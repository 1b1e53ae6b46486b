#pragma once

// Placement inside one node: which cores, memory nodes and GPUs each task gets.
//
// A task gets whole cores of its own, all in one NUMA node where one has room, and the GPUs it asks
// for beside them. Used by the planner's span across nodes; knows nothing of other nodes.
// Invariants: (1) what it grants is free in the snapshot it was given; (2) the same snapshot and
// request give the same answer; (3) ranks are numbered from 0 here, the span numbers them over the
// job; (4) a GPU that others use outside of jobs goes to a request that takes such, and to that
// only where there is no other.

#include <cstdint>

#include "scheduler/core/place/placed.h"
#include "scheduler/model/job/job_spec.h"
#include "scheduler/model/plan/snapshot.h"

namespace muster::core {

// Places as many of the job's tasks as fit on the node as it is, at most `limit`. Whether the node
// is up or drained is the caller's question.
Placed PlaceOnNode(const NodeSnapshot& node, const ResourceRequest& request, std::uint32_t limit);

}  // namespace muster::core
