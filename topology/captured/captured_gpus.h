#pragma once

// The GPUs of a captured topology, NVIDIA's first, put together from what the capture happens to
// hold.
//
// A capture may show a GPU of NVIDIA's as a PCI device, as an NVML, CUDA or OpenCL device, or as
// several of these; one GPU comes out for each PCI device of a display or 3D controller, and one
// for each NVML (else CUDA) device without such a parent. OpenCL devices say model and memory only:
// hwloc puts them beside the wrong PCI device on some machines. One GPU of AMD's comes out for each
// device of ROCm SMI ("rsmi0"). Thread promise: reads the topology and changes only `machine`.

#include "scheduler/model/machine/machine.h"
#include "topology/hwloc/hwloc_topology.h"

namespace muster::topology {

// Fills in machine.gpus. A GPU without a UUID gets "GPU-<source's name>-<number>", with a remark;
// the same for memory that is unknown. REQUIRES: the rest of `machine` came from this topology.
void AddCapturedGpus(const HwlocTopology& topology, Machine& machine);

}  // namespace muster::topology
