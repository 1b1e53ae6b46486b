#pragma once

// Where a scheduler that knows nothing of topology would put a job: what ours is compared with.
//
// Nodes in the order of their names ("node2" before "node10"), each filled before the next; on a
// node the first free cores and the first free GPUs, dealt to the ranks in order (Slurm's block
// distribution without its topology plugins). Never used to place anything. Invariants: (1) what it
// gives respects the request and what is taken; (2) ties do not arise.

#include <optional>
#include <vector>

#include "scheduler/model/job/job_spec.h"
#include "scheduler/model/machine/allocation.h"
#include "scheduler/model/plan/snapshot.h"

namespace muster::core {

// REQUIRES: `request` went through Normalise. Nothing when filling nodes in this order never holds
// the job on as many as it may have.
std::optional<Allocation> PlaceInBlocks(const std::vector<NodeSnapshot>& nodes,
                                        const ResourceRequest& request);

}  // namespace muster::core
