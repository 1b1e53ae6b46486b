#pragma once

// How near its ranks a placement puts what they use.
//
// Invariants: what the machine does not say is not near.

#include <cstdint>
#include <vector>

#include "scheduler/model/machine/allocation.h"
#include "scheduler/model/machine/machine.h"

namespace muster::core {

// True when the rank's cores, memory and GPUs are all on one NUMA node. A machine without NUMA
// nodes is one.
bool IsLocal(const Machine& machine, const RankPlacement& rank);

// Of a placement's ranks, those that are local: 1.000 is perfect.
struct Locality {
  std::uint32_t local = 0;
  std::uint32_t ranks = 0;
  [[nodiscard]] double share() const { return ranks == 0 ? 1.0 : double{1} * local / ranks; }
};
void AddLocality(const Machine& machine, const NodeAllocation& part, Locality& locality);

// The NIC (position in Machine::nics) of each rank of the part, in its order; kNowhere where the
// machine has none. The one that the rank's GPUs reach by the best way, the weakest of several GPUs
// counting; without GPUs, or without a known way, one on the NUMA node of its cores. Of equals, the
// one that fewest ranks before it use.
std::vector<std::uint32_t> NearestNics(const Machine& machine, const NodeAllocation& part);

}  // namespace muster::core
