#pragma once

// One machine divided among several agents, so that a personal cluster's nodes are real.
//
// The slices of one machine and count are a partition: every core (or hardware thread) and every
// GPU is in exactly one of them, and their memory adds up to the machine's. All of them are
// computed from the machine alone, so agents that never talk agree. NICs are shared.

#include <cstdint>

#include "absl/status/statusor.h"
#include "scheduler/model/machine/machine.h"

namespace muster::topology {

// Part `index` (from 0) of `count`. Cores stand in the order package, NUMA node, L3, first thread,
// and are cut into `count` runs whose lengths differ by at most one; with fewer cores than slices
// hardware threads are cut instead (a remark says that nodes share a core). A NUMA node's memory
// goes with its cores, that of memory-only nodes by cores in all. A GPU goes to the owner of the
// core that stands at its rank among the GPUs near the same NUMA node.
// InvalidArgument when index >= count or the machine has fewer threads than `count`.
absl::StatusOr<Machine> SliceMachine(const Machine& machine, std::uint32_t index,
                                     std::uint32_t count);

}  // namespace muster::topology
