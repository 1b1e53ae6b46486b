#include "topology/gpu/live_gpus.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "topology/hwloc/inventory.h"
#include "topology/hwloc/pci_links.h"

namespace muster::topology {
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

// What a library says about the nearest NUMA node of the GPU, against what the PCI tree does.
void CompareNuma(std::string_view library, const Gpu& gpu, std::uint32_t told, Machine& machine) {
  const bool is_there = std::any_of(machine.numa_nodes.begin(), machine.numa_nodes.end(),
                                    [told](const NumaNode& node) { return node.os_index == told; });
  if (!is_there) {
    machine.remarks.push_back(absl::StrCat(std::string(library), " puts GPU ", gpu.os_index, " (",
                                           gpu.pci_address, ") on NUMA node ", told,
                                           ", which is not there"));
  } else if (gpu.numa != kNowhere && machine.numa_nodes[gpu.numa].os_index != told) {
    machine.remarks.push_back(absl::StrCat(
        std::string(library), " puts GPU ", gpu.os_index, " (", gpu.pci_address, ") on NUMA node ",
        told, ", the PCI bus on ", machine.numa_nodes[gpu.numa].os_index, ": the latter counts"));
  }
}

}  // namespace

void AddLiveGpus(const HwlocTopology& topology, const std::vector<GpuListing>& listings,
                 Machine& machine) {
  std::vector<std::uint32_t> first;  // of each listing, the position of its first GPU
  for (const GpuListing& listing : listings) {
    first.push_back(static_cast<std::uint32_t>(machine.gpus.size()));
    machine.gpus.insert(machine.gpus.end(), listing.gpus.begin(), listing.gpus.end());
    machine.remarks.insert(machine.remarks.end(), listing.remarks.begin(), listing.remarks.end());
  }
  LocateGpus(topology, machine);
  for (std::size_t i = 0; i < listings.size(); ++i) {
    const std::vector<std::optional<std::uint32_t>>& told = listings[i].numa_told;
    for (std::uint32_t gpu = 0; gpu < told.size(); ++gpu) {
      if (told[gpu].has_value()) {
        CompareNuma(listings[i].library, machine.gpus[first[i] + gpu], *told[gpu], machine);
      }
    }
  }
  for (const GpuListing& listing : listings) {
    for (MigGpu mig : listing.mig) {
      const auto part = std::find_if(machine.gpus.begin(), machine.gpus.end(), [&](const Gpu& gpu) {
        return gpu.uuid == mig.whole.uuid || gpu.parent == mig.whole.uuid;
      });
      mig.whole.numa = part == machine.gpus.end() ? kNowhere : part->numa;
      machine.mig.push_back(std::move(mig));
    }
  }
  AddDeviceLinks(topology, machine);
  for (std::size_t i = 0; i < listings.size(); ++i) {
    for (const DeviceLink& link : listings[i].links) {
      PutLink(link, first[i], machine);
    }
  }
  std::sort(machine.gpu_links.begin(), machine.gpu_links.end(),
            [](const DeviceLink& x, const DeviceLink& y) {
              return std::tie(x.a, x.b) < std::tie(y.a, y.b);
            });
}

}  // namespace muster::topology
