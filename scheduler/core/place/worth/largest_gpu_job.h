#pragma once

// The largest job that would start now, for each model of GPU: what fragmentation leaves.
//
// A job of one GPU and one core a task is meant, without limits of its owner, which takes no GPU
// that others use outside of jobs. Invariants: on_nvlink
// <= on_node <= anywhere <= free <= gpus of each model.

#include <vector>

#include "scheduler/model/machine/network.h"
#include "scheduler/model/plan/snapshot.h"
#include "scheduler/model/view/view.h"

namespace muster::core {

// By model's name. `network`: null when it is not known.
std::vector<LargestGpuJob> LargestGpuJobs(const std::vector<NodeSnapshot>& nodes,
                                          const Network* network);

}  // namespace muster::core
