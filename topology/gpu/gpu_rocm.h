#pragma once

// AMD GPUs by ROCm SMI, loaded at run time: a machine without it has none, silently.
//
// A GPU's UUID is what ROCR_VISIBLE_DEVICES takes: "GPU-" and its unique id in sixteen hexadecimal
// digits. The library lists XGMI links only; the ways through PCIe are read from the PCI tree, as
// for other GPUs. Thread promise: as GpuLibrary's.

#include "topology/gpu/library.h"

namespace muster::topology {

const GpuLibrary& RocmSmiLibrary();

}  // namespace muster::topology
