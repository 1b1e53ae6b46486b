#pragma once

// The vendors of GPUs that we know, and what is asked of all of them.
//
// A new vendor is a line in libraries.cc. Thread promise: as GpuLibrary's; ListGpus and
// OpenGpuMeter read the environment, so call them before other threads change it. Invariant: the
// vendors are always in the same order, which is that of a machine's GPUs.

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "scheduler/model/machine/machine.h"
#include "scheduler/model/machine/mig.h"
#include "topology/gpu/library.h"

namespace muster::topology {

std::span<const GpuLibrary* const> GpuLibraries();

const GpuLibrary& GpuLibraryOf(GpuVendor vendor);

// The name of the library of the machine's GPU with this UUID.
std::string_view LibraryOfGpu(const Machine& machine, std::string_view uuid);

// The file to load: that of the environment, else the vendor's.
std::string LibraryFile(const GpuLibrary& library);

// What each library says of this machine.
std::vector<GpuListing> ListGpus();

// Divides a GPU of this machine by its vendor's library.
absl::Status DivideGpu(GpuVendor vendor, const std::string& uuid,
                       const std::vector<MigInstance>& instances);

// All GPUs of this machine that a library measures; null: there are none.
std::unique_ptr<GpuMeter> OpenGpuMeter();

// The device files of this machine's GPUs, and which GPU each belongs to. Read from what the
// drivers say in /proc and /sys, never from names in /dev: in a container those may be fewer, and
// numbered otherwise. A GPU's device that no GPU of the machine claims (another slice's, one that
// the library hides) is listed without any, so that no job may open it. `root` is "/" but in tests.
std::vector<DeviceNodes> FindGpuDevices(const Machine& machine, const std::string& root);

}  // namespace muster::topology
