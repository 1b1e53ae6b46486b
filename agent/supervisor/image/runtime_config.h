#pragma once

// The config.json that an OCI runtime makes a container from (runtime specification 1.0.2): the
// namespaces, the root and what is mounted there.
//
// Pure. The container shares the node's network, processes and memory segments; users and mounts
// are its own. The runtime runs no program in it: ranks enter it by themselves, so the document's
// program is only there to be found. Invariant: no mount of it keeps set-user-ID bits.

#include <cstdint>
#include <string>
#include <vector>

#include "agent/supervisor/image/device_edits.h"

namespace muster::agent {

struct RuntimeParts {
  std::string root;       // a directory
  bool read_only = true;  // the root
  std::uint32_t uid = 0;  // as whom its user appears inside
  std::uint32_t gid = 0;
  std::string program = {};                 // of the node, for the runtime and launchers to find
  std::vector<ContainerMount> mounts = {};  // after those of every container, in this order
  DeviceEdits devices = {};
};

std::string RuntimeConfig(const RuntimeParts& parts);

}  // namespace muster::agent
