#pragma once

// The positions of a machine's GPUs when their number changes: what MIG divides or joins must not
// move the others, because allocations name GPUs by position.
//
// Pure. Invariant: a GPU that had a position which there is still keeps it.

#include <string>
#include <vector>

#include "scheduler/model/machine/machine.h"

namespace muster {

// The UUIDs of the machine's GPUs, by position.
std::vector<std::string> GpuOrder(const Machine& machine);

// Puts the machine's GPUs where `before` had them; what has no place of before fills the gaps, in
// order. Links go with them.
void KeepGpuPositions(const std::vector<std::string>& before, Machine& machine);

}  // namespace muster
