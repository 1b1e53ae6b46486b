#pragma once

// AMD GPUs by ROCm SMI, loaded at run time: a machine without it has none, silently.
//
// Debian's headers of it are in no package that we need, so the few prototypes used are declared in
// the .cc file, from AMD's ROCm SMI API reference. A GPU's UUID is what ROCR_VISIBLE_DEVICES takes:
// "GPU-" and its unique id in sixteen hexadecimal digits. The library lists XGMI links only; the
// ways through PCIe are read from the PCI tree, as for other GPUs. Everything that the library
// refuses becomes a remark; a GPU without a PCI address is left out. Thread promise: loads and
// unloads the library within the call; call it from one thread.

#include <optional>
#include <string>
#include <vector>

#include "scheduler/model/machine/device_link.h"
#include "scheduler/model/machine/machine.h"

namespace muster {

struct RocmReading {
  std::vector<Gpu> gpus;          // in the library's order, which is rocm-smi's; numa is kNowhere
  std::vector<DeviceLink> links;  // the pairs of `gpus` that XGMI joins
  std::vector<std::optional<std::uint32_t>> numa_told;  // of each GPU, the kernel's number
  std::vector<std::string> remarks;
};

// The library to load: MUSTER_ROCM_SMI from the environment, else "librocm_smi64.so". An empty
// MUSTER_ROCM_SMI means: no AMD GPUs.
std::string RocmSmiLibrary();

// The GPUs that `library` lists. A library that is not there is no error; a path (with a slash)
// that does not load is a remark, because a user asked for it.
RocmReading ReadRocmSmi(const std::string& library);

}  // namespace muster
