#pragma once

// NVIDIA GPUs by NVML, loaded at run time: a machine without the driver has none, silently.
//
// Debian has no nvml.h, so the few prototypes used are declared in the .cc file, from NVIDIA's NVML
// API reference. NVLinks through NVSwitches join every two GPUs that have them; as nvidia-smi does,
// a pair counts as many as the one with fewer has. A GPU that MIG divides is not listed; its
// instances are, each with the GPU's number and PCI address, and without links: CUDA gives them no
// peers (NVIDIA, "MIG User Guide", application considerations). Everything that NVML refuses
// becomes a remark; a GPU that cannot be named is left out, because a job cannot be given it.
// Thread promise: loads and unloads the library within the call; call it from one thread.

#include <string>
#include <vector>

#include "scheduler/model/machine/device_link.h"
#include "scheduler/model/machine/machine.h"

namespace muster {

struct NvmlReading {
  std::vector<Gpu> gpus;          // in NVML's order, which is nvidia-smi's; numa is kNowhere
  std::vector<DeviceLink> links;  // the pairs of `gpus` that NVLinks join, with their number
  std::vector<std::string> remarks;
};

// The library to load: MUSTER_NVML from the environment, else "libnvidia-ml.so.1". An empty
// MUSTER_NVML means: no GPUs.
std::string NvmlLibrary();

// The GPUs that `library` lists. A library that is not there is no error; a path (with a slash)
// that does not load is a remark, because a user asked for it.
NvmlReading ReadNvml(const std::string& library);

}  // namespace muster
