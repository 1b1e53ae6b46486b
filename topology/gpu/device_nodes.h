#pragma once

// Device files of GPUs: their numbers, and where the kernel says them.
//
// What the drivers of several vendors say in the same way is read here, for the vendors' files.
// Invariant: lists come out in the order of names, so that the same machine gives the same list.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "scheduler/model/machine/machine.h"
#include "scheduler/model/value/fields.h"

namespace muster::topology {

// Character devices that only jobs with one of these GPUs may open; no GPU: no job may.
struct DeviceNodes {
  std::uint32_t major = 0;
  std::uint32_t first_minor = 0;
  std::uint32_t last_minor = 0;
  std::vector<std::uint32_t> gpus;  // positions in Machine::gpus
  static constexpr auto Fields(auto list) {
    return list(Field{"major", &DeviceNodes::major},
                Field{"first_minor", &DeviceNodes::first_minor},
                Field{"last_minor", &DeviceNodes::last_minor}, Field{"gpus", &DeviceNodes::gpus});
  }
  friend bool operator==(const DeviceNodes&, const DeviceNodes&) = default;
};

// The positions in machine.gpus of the vendor's, and of those at a PCI address.
std::vector<std::uint32_t> GpusOf(const Machine& machine, GpuVendor vendor);
std::vector<std::uint32_t> GpusAt(const Machine& machine, const std::string& pci_address);

// What a directory holds; empty where there is none.
std::vector<std::filesystem::path> EntriesOf(const std::string& directory);

// A file's text without the blanks around it; empty where it cannot be read.
std::string TrimmedText(const std::filesystem::path& file);

// The one device whose number, such as "226:128", `file` holds.
std::optional<DeviceNodes> ReadDeviceNumber(const std::filesystem::path& file,
                                            std::vector<std::uint32_t> gpus);

// The major number that a driver took, from /proc/devices below `root`.
std::optional<std::uint32_t> MajorOf(const std::string& driver, const std::string& root);

// Cards and render nodes of the PCI vendor, such as "0x10de", by the PCI device that each is of.
std::vector<DeviceNodes> FindDrawingDevices(const Machine& machine, const std::string& root,
                                            std::string_view pci_vendor);

}  // namespace muster::topology
