#pragma once

// The device files of this machine's GPUs, and which GPU each belongs to.
//
// Read from what the drivers say in /proc and /sys, never from names in /dev: in a container those
// may be fewer, and numbered otherwise. Thread promise: safe from any thread. Invariant: a GPU's
// device that no GPU of the machine claims (another slice's, one that NVML hides) is listed without
// any, so that no job may open it.

#include <string>
#include <vector>

#include "agent/supervisor/attempt/limit_set.h"
#include "scheduler/model/machine/machine.h"

namespace muster {

// `root` is "/" but in tests. Empty on a machine without GPUs.
std::vector<DeviceNodes> FindGpuDevices(const Machine& machine, const std::string& root);

}  // namespace muster
