#pragma once

// Which device files a job in a container is shown, beside those that every container has: those of
// its GPUs, and those of the node's networks.
//
// What a job may open its control group's device program says (agent/supervisor/limits); here it is
// only what it sees. Thread promise: the caller's thread; looks into /dev.

#include <cstdint>
#include <string>
#include <vector>

#include "agent/supervisor/attempt/container_order.h"
#include "scheduler/model/machine/allocation.h"
#include "scheduler/model/machine/machine.h"
#include "topology/gpu/device_nodes.h"

namespace muster::agent {

// The GPUs of a job that has `part` of that machine.
std::vector<ContainerGpu> GpusOf(const Machine& machine, const NodeAllocation& part);

struct DeviceFile {
  std::string path;
  std::uint32_t major = 0;
  std::uint32_t minor = 0;
};

// The character devices in the directories of /dev where drivers of GPUs and networks have theirs.
std::vector<DeviceFile> FindDeviceFiles();

// Those of `files` that a job with these GPUs, by their positions, may open: the first rule that
// matches a file decides; what no rule names is a network's, or is left out.
std::vector<std::string> FilesOfJob(const std::vector<DeviceFile>& files,
                                    const std::vector<topology::DeviceNodes>& rules,
                                    const std::vector<std::uint32_t>& gpus);

}  // namespace muster::agent
