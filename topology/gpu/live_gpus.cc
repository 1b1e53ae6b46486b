#include "topology/gpu/live_gpus.h"

#include <algorithm>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "topology/hwloc/inventory.h"
#include "topology/hwloc/pci_links.h"

namespace muster {
namespace {

// `first` is the position of the GPU that its library counts as the first.
void PutLink(DeviceLink told, std::uint32_t first, Machine& machine) {
  told.a += first;
  told.b += first;
  const auto known = std::find_if(
      machine.gpu_links.begin(), machine.gpu_links.end(),
      [&told](const DeviceLink& link) { return link.a == told.a && link.b == told.b; });
  if (known == machine.gpu_links.end()) {
    machine.gpu_links.push_back(told);
  } else {
    *known = told;
  }
}

// What ROCm SMI says about the nearest NUMA node of the GPU, against what the PCI tree does.
void CompareNuma(const Gpu& gpu, std::uint32_t told, Machine& machine) {
  const bool is_there = std::any_of(machine.numa_nodes.begin(), machine.numa_nodes.end(),
                                    [told](const NumaNode& node) { return node.os_index == told; });
  if (!is_there) {
    machine.remarks.push_back(absl::StrCat("ROCm SMI puts GPU ", gpu.os_index, " (",
                                           gpu.pci_address, ") on NUMA node ", told,
                                           ", which is not there"));
  } else if (gpu.numa != kNowhere && machine.numa_nodes[gpu.numa].os_index != told) {
    machine.remarks.push_back(absl::StrCat(
        "ROCm SMI puts GPU ", gpu.os_index, " (", gpu.pci_address, ") on NUMA node ", told,
        ", the PCI bus on ", machine.numa_nodes[gpu.numa].os_index, ": the latter counts"));
  }
}

}  // namespace

void AddLiveGpus(const HwlocTopology& topology, const NvmlReading& nvidia, const RocmReading& amd,
                 Machine& machine) {
  machine.gpus = nvidia.gpus;
  machine.gpus.insert(machine.gpus.end(), amd.gpus.begin(), amd.gpus.end());
  machine.remarks.insert(machine.remarks.end(), nvidia.remarks.begin(), nvidia.remarks.end());
  machine.remarks.insert(machine.remarks.end(), amd.remarks.begin(), amd.remarks.end());
  LocateGpus(topology, machine);
  const auto first_amd = static_cast<std::uint32_t>(nvidia.gpus.size());
  for (std::uint32_t i = 0; i < amd.numa_told.size(); ++i) {
    if (amd.numa_told[i].has_value()) {
      CompareNuma(machine.gpus[first_amd + i], *amd.numa_told[i], machine);
    }
  }
  AddDeviceLinks(topology, machine);
  for (const DeviceLink& link : nvidia.links) {
    PutLink(link, 0, machine);
  }
  for (const DeviceLink& link : amd.links) {
    PutLink(link, first_amd, machine);
  }
  std::sort(machine.gpu_links.begin(), machine.gpu_links.end(),
            [](const DeviceLink& x, const DeviceLink& y) {
              return std::tie(x.a, x.b) < std::tie(y.a, y.b);
            });
}

}  // namespace muster
