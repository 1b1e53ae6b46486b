#pragma once

// What was placed on one node, and how the parts of several nodes become one allocation.
//
// Invariants: (1) ranks are numbered from 0 on each node that was placed, and over the whole
// allocation once it is put together; (2) nodes keep the order in which they were added.

#include <cstdint>

#include "scheduler/model/machine/allocation.h"

namespace muster::core {

struct Placed {
  std::uint32_t tasks = 0;  // how many were placed; 0 leaves `allocation` empty
  NodeAllocation allocation;
};

// Adds what was placed on one more node, its ranks numbered after those before. False, with nothing
// added, when it is fewer tasks than `tasks`.
bool AddPlaced(Placed placed, std::uint32_t tasks, Allocation& allocation);

}  // namespace muster::core
