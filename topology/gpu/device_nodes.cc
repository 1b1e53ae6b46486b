#include "topology/gpu/device_nodes.h"

#include <algorithm>
#include <functional>
#include <system_error>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "scheduler/runtime/file.h"

namespace muster::topology {
namespace {

std::vector<std::uint32_t> PositionsOf(const Machine& machine,
                                       const std::function<bool(const Gpu&)>& wanted) {
  std::vector<std::uint32_t> positions;
  for (std::uint32_t i = 0; i < machine.gpus.size(); ++i) {
    if (wanted(machine.gpus[i])) {
      positions.push_back(i);
    }
  }
  return positions;
}

}  // namespace

std::vector<std::uint32_t> GpusOf(const Machine& machine, GpuVendor vendor) {
  return PositionsOf(machine, [vendor](const Gpu& gpu) { return gpu.vendor == vendor; });
}

std::vector<std::uint32_t> GpusAt(const Machine& machine, const std::string& pci_address) {
  return PositionsOf(machine, [&](const Gpu& gpu) { return gpu.pci_address == pci_address; });
}

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

std::string TrimmedText(const std::filesystem::path& file) {
  std::string text = ReadFile(file.string()).value_or("");
  absl::StripAsciiWhitespace(&text);
  return text;
}

std::optional<DeviceNodes> ReadDeviceNumber(const std::filesystem::path& file,
                                            std::vector<std::uint32_t> gpus) {
  const std::vector<std::string> parts = absl::StrSplit(TrimmedText(file), ':');
  DeviceNodes nodes;
  if (parts.size() != 2 || !absl::SimpleAtoi(parts[0], &nodes.major) ||
      !absl::SimpleAtoi(parts[1], &nodes.first_minor)) {
    return std::nullopt;
  }
  nodes.last_minor = nodes.first_minor;
  nodes.gpus = std::move(gpus);
  return nodes;
}

std::optional<std::uint32_t> MajorOf(const std::string& driver, const std::string& root) {
  const std::string text = ReadFile(root + "/proc/devices").value_or("");
  const std::vector<std::string> lines =  // the block devices come after a line
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

std::vector<DeviceNodes> FindDrawingDevices(const Machine& machine, const std::string& root,
                                            std::string_view pci_vendor) {
  std::vector<DeviceNodes> devices;
  for (const std::filesystem::path& entry : EntriesOf(root + "/sys/class/drm")) {
    if (TrimmedText(entry / "device" / "vendor") != pci_vendor) {
      continue;  // another vendor's, or a screen's
    }
    std::error_code error;
    const std::string address =
        std::filesystem::canonical(entry / "device", error).filename().string();
    std::optional<DeviceNodes> nodes = ReadDeviceNumber(entry / "dev", GpusAt(machine, address));
    if (nodes.has_value()) {
      devices.push_back(*std::move(nodes));
    }
  }
  return devices;
}

}  // namespace muster::topology
