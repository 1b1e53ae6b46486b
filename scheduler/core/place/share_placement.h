#pragma once

// Placement of jobs that ask for a part of a GPU (--gpu-share).
//
// Each task has a share of one GPU; with --gpus-per-node the job's tasks on a node have one share
// together. A task is put on the fullest GPU that has room and cores beside it, else on the fullest
// that has room. Invariants: (1) no GPU is given away more than whole; (2) what a GPU has left is
// in one piece: two halves of different GPUs are no whole; (3) the same snapshot and request give
// the same answer.

#include <cstdint>

#include "scheduler/core/place/placed.h"
#include "scheduler/model/job/job_spec.h"
#include "scheduler/model/plan/snapshot.h"

namespace muster::core {

// As PlaceOnNode. REQUIRES: the request asks for a share.
Placed PlaceShares(const NodeSnapshot& node, const ResourceRequest& request, std::uint32_t limit);

}  // namespace muster::core
