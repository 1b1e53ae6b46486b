#pragma once

// How MIG can divide an NVIDIA GPU, and doing so.
//
// Thread promise: as GpuLibrary's. Invariants: a GPU that a process uses is not touched; one that
// cannot be divided as asked is put back as it was, as far as the library lets us.

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "scheduler/model/machine/mig.h"
#include "topology/gpu/nvml.h"

namespace muster::topology {

// What instances of the GPU can be; none where MIG cannot divide it, or the library does not say.
std::vector<MigProfile> ReadMigProfiles(const nvml::Nvml& nvml, nvml::Device device);

// Makes these instances of the GPU with that UUID, in the place of all it has; with none it is
// whole. It may take seconds. An error is one line for people.
absl::Status DivideNvidia(const std::string& library, const std::string& uuid,
                          const std::vector<MigInstance>& instances);

}  // namespace muster::topology
