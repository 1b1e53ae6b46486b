#pragma once

// Placement inside one node of tasks that have whole GPUs, or none.
//
// Domain by domain (NUMA nodes): the tightest that takes all tasks, else the roomiest; GPUs are
// those joined best. Called by core/place/placement, and by core/place/share_placement, which lends
// its tasks a whole GPU. Invariants: those of core/place/placement.

#include <cstdint>

#include "scheduler/core/place/placed.h"
#include "scheduler/model/job/job_spec.h"
#include "scheduler/model/plan/snapshot.h"

namespace muster::core {

// As PlaceOnNode. REQUIRES: the request asks for no share of a GPU.
Placed PlaceWhole(const NodeSnapshot& node, const ResourceRequest& request, std::uint32_t limit);

}  // namespace muster::core
