#pragma once

// What a container needs so that programs in it find a job's GPUs: device files, the driver's
// libraries, variables.
//
// From the vendor's own description, where the node has one (Container Device Interface 0.6, JSON
// or YAML in /etc/cdi and /var/run/cdi); else from what the driver has installed here. Pure, but
// for ReadDescriptions. Invariant: of several devices of a description only those that are asked
// for count.

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "agent/supervisor/attempt/container_order.h"

namespace muster::agent {

struct DeviceHook {
  std::string when;  // the hook's name in the runtime specification: "createContainer"
  std::string program;
  std::vector<std::string> arguments;
  friend bool operator==(const DeviceHook&, const DeviceHook&) = default;
};

struct DeviceEdits {
  std::vector<std::string> environment;  // "NAME=value"
  std::vector<std::string> device_files;
  std::vector<ContainerMount> mounts;
  std::vector<DeviceHook> hooks;
  friend bool operator==(const DeviceEdits&, const DeviceEdits&) = default;
};

// What such a description says of these GPUs, called by UUID or by index. NotFound when it does not
// know them all.
absl::StatusOr<DeviceEdits> EditsFrom(const std::string& description,
                                      const std::vector<ContainerGpu>& gpus);

// The texts of the descriptions in these directories, in the order of their names.
std::vector<std::string> ReadDescriptions(const std::vector<std::string>& directories);

// The directory of a container in which programs of NVIDIA's images look for the driver.
inline constexpr const char* kDriverDirectory = "/usr/local/nvidia";

// Without a description: the driver's libraries for this machine's architecture, as `ldconfig -p`
// lists them, and its tools that are there.
DeviceEdits EditsFromDriver(std::string_view listed, const std::vector<std::string>& tools);

}  // namespace muster::agent
