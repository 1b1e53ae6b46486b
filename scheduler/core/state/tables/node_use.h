#pragma once

// What is taken of a node: cores, memory and GPUs; the only arithmetic on it.
//
// Thread promise: pure functions of their arguments. Invariants: no core is taken twice, no GPU
// more than whole; a violation ends the program in every build.

#include "scheduler/model/machine/allocation.h"
#include "scheduler/model/machine/machine.h"
#include "scheduler/model/machine/node.h"

namespace muster::core {

// Adds to, and takes from, what is taken of a node. REQUIRES: what is added is free, what is freed
// is taken.
void AddUse(NodeUse& use, const Machine& machine, const NodeAllocation& allocation);
// The same where what is added may be taken already: threads count once, a GPU is at most whole.
// For attempts that agents report and this controller did not plan.
void CoverUse(NodeUse& use, const Machine& machine, const NodeAllocation& allocation);
void SubtractUse(NodeUse& use, const NodeAllocation& allocation);

}  // namespace muster::core
