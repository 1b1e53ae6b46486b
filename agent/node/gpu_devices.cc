#include "agent/node/gpu_devices.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "scheduler/runtime/file.h"

namespace muster {
namespace {

// Given to NVIDIA for good; above the last minor are the ones that every program opens (255 the
// control device, 254 mode setting).
constexpr std::uint32_t kNvidiaMajor = 195;
constexpr std::uint32_t kNvidiaLastGpu = 253;
constexpr std::uint32_t kMinorMax = (1U << 20) - 1;
constexpr const char* kNvidiaVendor = "0x10de";
constexpr const char* kAmdVendor = "0x1002";

using Positions = std::vector<std::uint32_t>;

Positions PositionsOf(const Machine& machine, const std::function<bool(const Gpu&)>& wanted) {
  Positions positions;
  for (std::uint32_t i = 0; i < machine.gpus.size(); ++i) {
    if (wanted(machine.gpus[i])) {
      positions.push_back(i);
    }
  }
  return positions;
}

Positions AtAddress(const Machine& machine, const std::string& pci_address) {
  return PositionsOf(machine, [&](const Gpu& gpu) { return gpu.pci_address == pci_address; });
}

// In order, so that the same machine gives the same list.
std::vector<std::filesystem::path> EntriesOf(const std::string& directory) {
  std::vector<std::filesystem::path> entries;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(directory, error);
       !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    entries.push_back(entry->path());
  }
  std::sort(entries.begin(), entries.end());
  return entries;
}

std::string Line(const std::filesystem::path& file) {
  std::string text = ReadFile(file.string()).value_or("");
  absl::StripAsciiWhitespace(&text);
  return text;
}

// "226:128".
std::optional<DeviceNodes> ReadNumber(const std::filesystem::path& file, Positions gpus) {
  const std::vector<std::string> parts = absl::StrSplit(Line(file), ':');
  DeviceNodes nodes;
  if (parts.size() != 2 || !absl::SimpleAtoi(parts[0], &nodes.major) ||
      !absl::SimpleAtoi(parts[1], &nodes.first_minor)) {
    return std::nullopt;
  }
  nodes.last_minor = nodes.first_minor;
  nodes.gpus = std::move(gpus);
  return nodes;
}

// "Device Minor: 3" of /proc/driver/nvidia/gpus/<address>/information.
std::optional<std::uint32_t> NvidiaMinor(const std::filesystem::path& gpu) {
  const std::vector<std::string> lines = absl::StrSplit(Line(gpu / "information"), '\n');
  for (const std::string& line : lines) {
    const std::vector<std::string> parts = absl::StrSplit(line, ':');
    std::uint32_t minor = 0;
    if (parts.size() == 2 && parts[0] == "Device Minor" &&
        absl::SimpleAtoi(absl::StripAsciiWhitespace(parts[1]), &minor)) {
      return minor;
    }
  }
  return std::nullopt;
}

// The major number that a driver took, from /proc/devices; the block devices come after a line.
std::optional<std::uint32_t> MajorOf(const std::string& driver, const std::string& root) {
  const std::string text = ReadFile(root + "/proc/devices").value_or("");
  const std::vector<std::string> lines =
      absl::StrSplit(text.substr(0, text.find("Block devices")), '\n');
  for (const std::string& line : lines) {
    const std::vector<std::string> words = absl::StrSplit(line, ' ', absl::SkipEmpty());
    std::uint32_t major = 0;
    if (words.size() == 2 && words[1] == driver && absl::SimpleAtoi(words[0], &major)) {
      return major;
    }
  }
  return std::nullopt;
}

void AddNvidia(const Machine& machine, const std::string& root, std::vector<DeviceNodes>* devices) {
  const std::vector<std::filesystem::path> known = EntriesOf(root + "/proc/driver/nvidia/gpus");
  for (const std::filesystem::path& gpu : known) {
    const std::optional<std::uint32_t> minor = NvidiaMinor(gpu);
    if (minor.has_value()) {
      devices->push_back(
          {kNvidiaMajor, *minor, *minor, AtAddress(machine, gpu.filename().string())});
    }
  }
  const auto is_nvidia = [](const Gpu& gpu) { return gpu.vendor == GpuVendor::kNvidia; };
  if (known.empty()) {
    // A driver that shows no such directory: the number that NVML gave is the best there is.
    for (const std::uint32_t position : PositionsOf(machine, is_nvidia)) {
      const std::uint32_t minor = machine.gpus[position].os_index;
      devices->push_back({kNvidiaMajor, minor, minor, {position}});
    }
  }
  if (!known.empty() || !devices->empty()) {
    devices->push_back({kNvidiaMajor, 0, kNvidiaLastGpu, {}});
  }
  if (const auto major = MajorOf("nvidia-caps", root); major.has_value()) {
    // Parts of divided GPUs; which capability is which part's only NVML could say.
    devices->push_back({*major, 0, kMinorMax, PositionsOf(machine, [](const Gpu& gpu) {
                          return !gpu.instance.empty();
                        })});
  }
}

// Cards and render nodes, by the PCI device that each is of.
void AddDrawing(const Machine& machine, const std::string& root,
                std::vector<DeviceNodes>* devices) {
  for (const std::filesystem::path& entry : EntriesOf(root + "/sys/class/drm")) {
    const std::string vendor = Line(entry / "device" / "vendor");
    if (vendor != kNvidiaVendor && vendor != kAmdVendor) {
      continue;  // a screen's
    }
    std::error_code error;
    const std::string address =
        std::filesystem::canonical(entry / "device", error).filename().string();
    const std::optional<DeviceNodes> nodes = ReadNumber(entry / "dev", AtAddress(machine, address));
    if (nodes.has_value()) {
      devices->push_back(*nodes);
    }
  }
}

}  // namespace

std::vector<DeviceNodes> FindGpuDevices(const Machine& machine, const std::string& root) {
  std::vector<DeviceNodes> devices;
  AddNvidia(machine, root, &devices);
  AddDrawing(machine, root, &devices);
  const std::optional<DeviceNodes> compute = ReadNumber(
      root + "/sys/class/kfd/kfd/dev",
      PositionsOf(machine, [](const Gpu& gpu) { return gpu.vendor == GpuVendor::kAmd; }));
  if (compute.has_value()) {
    devices.push_back(*compute);  // one for all of AMD's GPUs
  }
  return devices;
}

}  // namespace muster
