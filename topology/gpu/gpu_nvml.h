#pragma once

// NVIDIA GPUs by NVML, loaded at run time: a machine without the driver has none, silently.
//
// Debian has no nvml.h, so the few prototypes used are declared in the .cc file, from NVIDIA's NVML
// API reference. NVLinks through NVSwitches join every two GPUs that have them; as nvidia-smi does,
// a pair counts as many as the one with fewer has. A GPU that MIG divides is not listed; its
// instances are, each with the GPU's number and PCI address, and without links: CUDA gives them no
// peers (NVIDIA, "MIG User Guide", application considerations). A share of a GPU is held by CUDA's
// MPS, where its daemon runs. Thread promise: as GpuLibrary's.

#include "topology/gpu/library.h"

namespace muster::topology {

const GpuLibrary& NvmlLibrary();

}  // namespace muster::topology
