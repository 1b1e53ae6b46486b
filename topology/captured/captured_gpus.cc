#include "topology/captured/captured_gpus.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "topology/hwloc/inventory.h"

namespace muster::topology {
namespace {

constexpr unsigned kNvidia = 0x10de;
constexpr unsigned kDisplayController = 0x0300;
constexpr unsigned kThreeDController = 0x0302;
constexpr std::size_t kUniqueIdDigits = 16;  // what ROCR_VISIBLE_DEVICES takes

struct Candidate {
  Gpu gpu;
  std::optional<std::uint32_t> number;  // the driver's, when the capture says it
};

// "nvml3" with prefix "nvml" is 3; nothing when the name is another.
std::optional<std::uint32_t> NumberAfter(std::string_view prefix, hwloc_obj_t device) {
  const std::string_view name = device->name == nullptr ? "" : device->name;
  if (name.substr(0, prefix.size()) != prefix) {
    return std::nullopt;
  }
  std::uint32_t number = 0;
  const char* end = name.data() + name.size();
  const auto [stop, error] = std::from_chars(name.data() + prefix.size(), end, number);
  return error == std::errc() && stop == end ? std::optional(number) : std::nullopt;
}

// Sizes are written in KiB, with or without the unit.
Bytes Kibibytes(const std::string& text) {
  std::uint64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return Bytes(std::min(value, std::uint64_t{1} << 50) * 1024);
}

// Adds what the NVML or CUDA device `device` says to `candidate`; false for any other device.
bool Learn(hwloc_obj_t device, Candidate& candidate) {
  const std::optional<std::uint32_t> nvml = NumberAfter("nvml", device);
  const std::optional<std::uint32_t> cuda = NumberAfter("cuda", device);
  if (!nvml.has_value() && !cuda.has_value()) {
    return false;
  }
  if (nvml.has_value() || !candidate.number.has_value()) {  // NVML's number is nvidia-smi's
    candidate.number = nvml.has_value() ? nvml : cuda;
  }
  const std::string uuid = InfoOf(device, "NVIDIAUUID");
  const std::string model = InfoOf(device, "GPUModel");
  const Bytes memory = Kibibytes(InfoOf(device, "CUDAGlobalMemorySize"));
  candidate.gpu.uuid = uuid.empty() ? candidate.gpu.uuid : uuid;
  candidate.gpu.model = model.empty() ? candidate.gpu.model : model;
  candidate.gpu.memory = std::max(candidate.gpu.memory, memory);
  return true;
}

bool IsGpu(hwloc_obj_t device) {
  const auto& pci = device->attr->pcidev;
  return pci.vendor_id == kNvidia &&
         (pci.class_id == kDisplayController || pci.class_id == kThreeDController);
}

std::vector<Candidate> FromPci(hwloc_topology_t topology, const Machine& machine) {
  std::vector<Candidate> found;
  for (hwloc_obj_t device = nullptr;
       (device = hwloc_get_next_pcidev(topology, device)) != nullptr;) {
    if (!IsGpu(device)) {
      continue;
    }
    Candidate candidate;
    candidate.gpu.pci_address = PciAddress(device);
    candidate.gpu.numa = NumaNear(device, machine);
    for (hwloc_obj_t child = device->io_first_child; child != nullptr;
         child = child->next_sibling) {
      Learn(child, candidate);
    }
    found.push_back(candidate);
  }
  std::sort(found.begin(), found.end(), [](const Candidate& a, const Candidate& b) {
    return a.gpu.pci_address < b.gpu.pci_address;
  });
  return found;
}

// The name in the PCI database, or the number in it, for those that nothing else names.
void NameByPci(hwloc_topology_t topology, std::vector<Candidate>& candidates) {
  for (Candidate& candidate : candidates) {
    hwloc_obj_t device =
        hwloc_get_pcidev_by_busidstring(topology, candidate.gpu.pci_address.c_str());
    if (candidate.gpu.model.empty() && device != nullptr) {
      const std::string name = InfoOf(device, "PCIDevice");
      candidate.gpu.model =
          name.empty() ? absl::StrFormat("NVIDIA 10de:%04x", device->attr->pcidev.device_id) : name;
    }
  }
}

// Devices of the driver that stand under no GPU's PCI device.
std::vector<Candidate> FromDriver(hwloc_topology_t topology, const Machine& machine,
                                  std::string_view prefix) {
  std::vector<Candidate> found;
  for (hwloc_obj_t device = nullptr;
       (device = hwloc_get_next_osdev(topology, device)) != nullptr;) {
    hwloc_obj_t pci = PciParent(device);
    Candidate candidate;
    if ((pci == nullptr || !IsGpu(pci)) && NumberAfter(prefix, device).has_value() &&
        Learn(device, candidate)) {
      candidate.gpu.numa = NumaNear(device, machine);
      found.push_back(candidate);
    }
  }
  return found;
}

// AMD's: the devices of ROCm SMI alone, because many a board has a display controller of AMD's.
std::vector<Candidate> FromRocmSmi(hwloc_topology_t topology, const Machine& machine) {
  std::vector<Candidate> found;
  for (hwloc_obj_t device = nullptr;
       (device = hwloc_get_next_osdev(topology, device)) != nullptr;) {
    Candidate candidate;
    candidate.number = NumberAfter("rsmi", device);
    if (!candidate.number.has_value()) {
      continue;
    }
    hwloc_obj_t pci = PciParent(device);
    const std::string id = InfoOf(device, "AMDUUID");  // hexadecimal, without leading zeros
    candidate.gpu.vendor = GpuVendor::kAmd;
    candidate.gpu.uuid =
        id.empty() || id.size() > kUniqueIdDigits
            ? ""
            : absl::StrCat("GPU-", std::string(kUniqueIdDigits - id.size(), '0'), id);
    candidate.gpu.model = InfoOf(device, "GPUModel");
    candidate.gpu.memory = Kibibytes(InfoOf(device, "RSMIVRAMSize"));
    candidate.gpu.pci_address = pci == nullptr ? "" : PciAddress(pci);
    candidate.gpu.numa = NumaNear(device, machine);
    found.push_back(candidate);
  }
  return found;
}

// Model and memory from OpenCL, when all its NVIDIA devices are alike.
void LearnFromOpenCl(hwloc_topology_t topology, std::vector<Candidate>& candidates) {
  std::set<std::pair<std::string, Bytes>> kinds;
  for (hwloc_obj_t device = nullptr;
       (device = hwloc_get_next_osdev(topology, device)) != nullptr;) {
    if (InfoOf(device, "OpenCLPlatformName") == "NVIDIA CUDA") {
      kinds.emplace(InfoOf(device, "GPUModel"),
                    Kibibytes(InfoOf(device, "OpenCLGlobalMemorySize")));
    }
  }
  if (kinds.size() != 1) {
    return;
  }
  for (Candidate& candidate : candidates) {
    Gpu& gpu = candidate.gpu;
    gpu.model = gpu.model.empty() ? kinds.begin()->first : gpu.model;
    gpu.memory = gpu.memory.zero() ? kinds.begin()->second : gpu.memory;
  }
}

// The driver's numbers where every candidate has one of its own, else the order they stand in.
void Number(std::vector<Candidate>& candidates) {
  std::set<std::uint32_t> numbers;
  for (const Candidate& candidate : candidates) {
    if (candidate.number.has_value()) {
      numbers.insert(*candidate.number);
    }
  }
  const bool told = numbers.size() == candidates.size();
  std::uint32_t next = 0;
  for (Candidate& candidate : candidates) {
    candidate.gpu.os_index = told ? *candidate.number : next++;
  }
  std::sort(candidates.begin(), candidates.end(),
            [](const Candidate& a, const Candidate& b) { return a.gpu.os_index < b.gpu.os_index; });
}

std::string BaseName(const std::string& source) {
  return source.substr(source.rfind('/') + 1);
}

// Gives every GPU a name of its own; true when some had none.
bool NameThem(const std::string& source, std::vector<Candidate>& candidates) {
  bool named_any = false;
  std::set<std::string> seen;
  for (Candidate& candidate : candidates) {
    Gpu& gpu = candidate.gpu;
    if (gpu.uuid.empty() || !seen.insert(gpu.uuid).second) {
      gpu.uuid = absl::StrCat(gpu.vendor == GpuVendor::kAmd ? "AMD-" : "GPU-", BaseName(source),
                              "-", gpu.os_index);
      seen.insert(gpu.uuid);
      named_any = true;
    }
  }
  return named_any;
}

std::vector<Candidate> FindNvidias(hwloc_topology_t topology, const Machine& machine) {
  std::vector<Candidate> candidates = FromPci(topology, machine);
  if (candidates.empty()) {
    candidates = FromDriver(topology, machine, "nvml");
  }
  if (candidates.empty()) {
    candidates = FromDriver(topology, machine, "cuda");
  }
  LearnFromOpenCl(topology, candidates);
  NameByPci(topology, candidates);
  Number(candidates);
  return candidates;
}

}  // namespace

void AddCapturedGpus(const HwlocTopology& topology, Machine& machine) {
  std::vector<Candidate> candidates = FindNvidias(topology.get(), machine);
  std::vector<Candidate> amds = FromRocmSmi(topology.get(), machine);
  Number(amds);
  candidates.insert(candidates.end(), amds.begin(), amds.end());
  if (NameThem(machine.source, candidates)) {
    machine.remarks.push_back(
        absl::StrCat(machine.source, " names no UUIDs for its GPUs: they are made up"));
  }
  bool sized = true;
  for (const Candidate& candidate : candidates) {
    sized = sized && !candidate.gpu.memory.zero();
    machine.gpus.push_back(candidate.gpu);
  }
  if (!sized) {
    machine.remarks.push_back(
        absl::StrCat(machine.source, " does not say how large its GPUs' memory is"));
  }
  LocateGpus(topology, machine);
}

}  // namespace muster::topology
