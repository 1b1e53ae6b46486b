#pragma once

// Puts the GPUs that the vendors' libraries tell of into a real machine: where they are near, how
// they are joined.
//
// NVIDIA's stand first; each vendor numbers its own from 0. What a library says of a pair wins over
// what the PCI tree does; where a GPU is near, the PCI tree wins and a remark tells of a library
// that says otherwise. Thread promise: reads the topology and changes only `machine`.

#include "scheduler/model/machine/machine.h"
#include "topology/gpu/gpu_nvml.h"
#include "topology/gpu/gpu_rocm.h"
#include "topology/hwloc/hwloc_topology.h"

namespace muster {

// REQUIRES: `machine` came from `topology` and has no GPUs yet.
void AddLiveGpus(const HwlocTopology& topology, const NvmlReading& nvidia, const RocmReading& amd,
                 Machine& machine);

}  // namespace muster
