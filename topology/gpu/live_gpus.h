#pragma once

// Puts the GPUs that the vendors' libraries tell of into a real machine: where they are near, how
// they are joined.
//
// They stand in the order of the listings; each vendor numbers its own from 0. What a library says
// of a pair wins over what the PCI tree does; where a GPU is near, the PCI tree wins and a remark
// tells of a library that says otherwise. Thread promise: reads the topology and changes only
// `machine`.

#include <vector>

#include "scheduler/model/machine/machine.h"
#include "topology/gpu/library.h"
#include "topology/hwloc/hwloc_topology.h"

namespace muster::topology {

// REQUIRES: `machine` came from `topology` and has no GPUs yet.
void AddLiveGpus(const HwlocTopology& topology, const std::vector<GpuListing>& listings,
                 Machine& machine);

}  // namespace muster::topology
