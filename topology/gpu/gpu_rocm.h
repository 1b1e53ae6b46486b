#pragma once

// AMD GPUs by ROCm SMI, loaded at run time: a machine without it has none, silently.
//
// Debian's headers of it are in no package that we need, so the few prototypes used are declared in
// the .cc file, from AMD's ROCm SMI API reference. A GPU's UUID is what ROCR_VISIBLE_DEVICES takes:
// "GPU-" and its unique id in sixteen hexadecimal digits. The library lists XGMI links only; the
// ways through PCIe are read from the PCI tree, as for other GPUs. Nothing is
// measured. Thread promise: as GpuLibrary's.

#include "topology/gpu/library.h"

namespace muster::topology {

const GpuLibrary& RocmSmiLibrary();

}  // namespace muster::topology
