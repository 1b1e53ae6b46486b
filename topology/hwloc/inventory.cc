#include "topology/hwloc/inventory.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "scheduler/base/status.h"

namespace muster::topology {
namespace {

// What hwloc calls memory that is not the machine's ordinary one.
constexpr std::string_view kSpecialMemory[] = {"MCDRAM", "HBM", "HBM2",      "CXL-DRAM",
                                               "NVM",    "SPM", "GPUMemory", "DAX"};

bool IsSpecialMemory(hwloc_obj_t node) {
  const std::string_view subtype = node->subtype == nullptr ? "" : node->subtype;
  return std::find(std::begin(kSpecialMemory), std::end(kSpecialMemory), subtype) !=
         std::end(kSpecialMemory);
}

// The kernel's number of the object; its rank where the kernel gives none.
std::uint32_t OsIndex(hwloc_obj_t object) {
  return object->os_index == HWLOC_UNKNOWN_INDEX ? object->logical_index : object->os_index;
}

class Inventory {
 public:
  Inventory(hwloc_topology_t topology, const std::optional<CpuSet>& usable)
      : topology_(topology), usable_(usable) {}

  absl::StatusOr<Machine> Take() {
    RETURN_IF_ERROR(TakeNumaNodes());
    for (hwloc_obj_t thread = nullptr;
         (thread = hwloc_get_next_obj_by_type(topology_, HWLOC_OBJ_PU, thread)) != nullptr;) {
      if (thread->os_index >= Bits::kLimit) {
        return TooLarge("hardware thread", thread->os_index);
      }
      if (!usable_.has_value() || usable_->Contains(thread->os_index)) {
        TakeThread(thread);
      }
    }
    // A sort is enough: nothing holds positions of cores.
    std::sort(machine_.cores.begin(), machine_.cores.end(),
              [](const Core& a, const Core& b) { return a.cpus.First() < b.cpus.First(); });
    TakeNics();
    return std::move(machine_);
  }

 private:
  static absl::Status TooLarge(const char* what, unsigned index) {
    return absl::InvalidArgumentError(absl::StrCat(what, " ", index, " is beyond the ",
                                                   Bits::kLimit, " that can be distinguished"));
  }

  absl::Status TakeNumaNodes() {
    for (hwloc_obj_t node = nullptr;
         (node = hwloc_get_next_obj_by_type(topology_, HWLOC_OBJ_NUMANODE, node)) != nullptr;) {
      if (node->os_index >= Bits::kLimit) {
        return TooLarge("NUMA node", node->os_index);
      }
      numa_objects_.push_back(node);
    }
    std::sort(numa_objects_.begin(), numa_objects_.end(),
              [](hwloc_obj_t a, hwloc_obj_t b) { return a->os_index < b->os_index; });
    for (hwloc_obj_t node : numa_objects_) {
      const Bytes memory(node->attr->numanode.local_memory - TakeHugePages(node));
      machine_.numa_nodes.push_back({node->os_index, {}, memory});
      machine_.memory += memory;
    }
    return absl::OkStatus();
  }

  // Bytes of the node's pools of huge pages, which no other memory can be taken from.
  std::uint64_t TakeHugePages(hwloc_obj_t node) {
    std::uint64_t bytes = 0;
    // From small to large: the first are the usual ones.
    for (unsigned i = 1; i < node->attr->numanode.page_types_len; ++i) {
      const auto& pages = node->attr->numanode.page_types[i];
      if (pages.count > 0 &&
          pages.count <= (node->attr->numanode.local_memory - bytes) / pages.size) {
        bytes += pages.count * pages.size;
        AddTo(machine_.gres, {{HugePagesName(pages.size), pages.count}});
      }
    }
    return bytes;
  }

  void TakeThread(hwloc_obj_t thread) {
    hwloc_obj_t core = hwloc_get_ancestor_obj_by_type(topology_, HWLOC_OBJ_CORE, thread);
    core = core == nullptr ? thread : core;
    const auto [entry, is_new] =
        cores_.emplace(core, static_cast<std::uint32_t>(machine_.cores.size()));
    if (is_new) {
      const std::uint32_t package = PackageOf(thread);
      machine_.cores.push_back({OsIndex(core), {}, NumaOf(thread), L3Of(thread, package), package});
    }
    Core& mine = machine_.cores[entry->second];
    mine.cpus.Insert(thread->os_index);
    if (mine.numa != kNowhere) {
      machine_.numa_nodes[mine.numa].cpus.Insert(thread->os_index);
    }
    if (mine.l3 != kNowhere) {
      machine_.l3_caches[mine.l3].cpus.Insert(thread->os_index);
    }
    if (const std::uint32_t die = DieOf(thread, mine.package); die != kNowhere) {
      machine_.dies[die].cpus.Insert(thread->os_index);
    }
  }

  std::uint32_t PackageOf(hwloc_obj_t thread) {
    hwloc_obj_t package = hwloc_get_ancestor_obj_by_type(topology_, HWLOC_OBJ_PACKAGE, thread);
    if (package == nullptr) {
      return kNowhere;
    }
    const auto [entry, is_new] =
        packages_.emplace(package, static_cast<std::uint32_t>(machine_.packages.size()));
    if (is_new) {
      std::string model = InfoOf(package, "CPUModel");
      if (model.empty()) {
        model = InfoOf(hwloc_get_root_obj(topology_), "CPUModel");
      }
      machine_.packages.push_back({OsIndex(package), model});
    }
    return entry->second;
  }

  std::uint32_t L3Of(hwloc_obj_t thread, std::uint32_t package) {
    hwloc_obj_t cache = hwloc_get_ancestor_obj_by_type(topology_, HWLOC_OBJ_L3CACHE, thread);
    if (cache == nullptr) {
      return kNowhere;
    }
    const auto [entry, is_new] =
        caches_.emplace(cache, static_cast<std::uint32_t>(machine_.l3_caches.size()));
    if (is_new) {
      machine_.l3_caches.push_back({{}, Bytes(cache->attr->cache.size), package});
    }
    return entry->second;
  }

  // Nowhere for the only die of a package, which is the package.
  std::uint32_t DieOf(hwloc_obj_t thread, std::uint32_t package) {
    hwloc_obj_t die = hwloc_get_ancestor_obj_by_type(topology_, HWLOC_OBJ_DIE, thread);
    hwloc_obj_t whole = hwloc_get_ancestor_obj_by_type(topology_, HWLOC_OBJ_PACKAGE, thread);
    if (die == nullptr || whole == nullptr ||
        hwloc_get_nbobjs_inside_cpuset_by_type(topology_, whole->cpuset, HWLOC_OBJ_DIE) < 2) {
      return kNowhere;
    }
    const auto [entry, is_new] =
        dies_.emplace(die, static_cast<std::uint32_t>(machine_.dies.size()));
    if (is_new) {
      machine_.dies.push_back({OsIndex(die), package, {}});
    }
    return entry->second;
  }

  // Ordinary memory before special, nearest before farther, the kernel's order last.
  std::uint32_t NumaOf(hwloc_obj_t thread) const {
    using Rank = std::tuple<bool, int, std::uint32_t>;
    std::optional<Rank> best;
    for (std::uint32_t i = 0; i < numa_objects_.size(); ++i) {
      hwloc_obj_t node = numa_objects_[i];
      if (hwloc_bitmap_isset(node->cpuset, thread->os_index) != 0) {
        const Rank rank{IsSpecialMemory(node), hwloc_bitmap_weight(node->cpuset), i};
        best = best.has_value() ? std::min(*best, rank) : rank;
      }
    }
    return best.has_value() ? std::get<2>(*best) : kNowhere;
  }

  // Where a PCI device has an OpenFabrics port, its network interfaces are the same port under
  // another name; jobs are told the former.
  void TakeNics() {
    std::vector<hwloc_obj_t> interfaces;
    std::vector<std::string> ports;
    for (hwloc_obj_t device = nullptr;
         (device = hwloc_get_next_osdev(topology_, device)) != nullptr;) {
      const auto kind = device->attr->osdev.type;
      if (kind == HWLOC_OBJ_OSDEV_OPENFABRICS) {
        TakeNic(device, true);
        ports.push_back(machine_.nics.back().pci_address);
      } else if (kind == HWLOC_OBJ_OSDEV_NETWORK) {
        interfaces.push_back(device);
      }
    }
    for (hwloc_obj_t device : interfaces) {
      hwloc_obj_t pci = PciParent(device);
      if (pci == nullptr || std::find(ports.begin(), ports.end(), PciAddress(pci)) == ports.end()) {
        TakeNic(device, false);
      }
    }
  }

  void TakeNic(hwloc_obj_t device, bool fabric) {
    hwloc_obj_t pci = PciParent(device);
    machine_.nics.push_back({device->name == nullptr ? "" : device->name,
                             pci == nullptr ? "" : PciAddress(pci), NumaNear(device, machine_),
                             fabric});
  }

  hwloc_topology_t topology_;
  const std::optional<CpuSet>& usable_;
  Machine machine_;
  std::vector<hwloc_obj_t> numa_objects_;  // in step with machine_.numa_nodes
  std::map<hwloc_obj_t, std::uint32_t> packages_;
  std::map<hwloc_obj_t, std::uint32_t> caches_;
  std::map<hwloc_obj_t, std::uint32_t> dies_;
  std::map<hwloc_obj_t, std::uint32_t> cores_;
};

}  // namespace

std::string InfoOf(hwloc_obj_t object, const char* name) {
  const char* value = hwloc_obj_get_info_by_name(object, name);
  return value == nullptr ? "" : value;
}

absl::StatusOr<Machine> TakeInventory(const HwlocTopology& topology,
                                      const std::optional<CpuSet>& usable) {
  return Inventory(topology.get(), usable).Take();
}

std::uint32_t NumaNear(hwloc_obj_t device, const Machine& machine) {
  while (device != nullptr && device->cpuset == nullptr) {  // devices have no set of threads
    device = device->parent;
  }
  std::vector<std::uint32_t> near;
  std::vector<std::uint32_t> with_threads;
  for (std::uint32_t i = 0; i < machine.numa_nodes.size(); ++i) {
    const NumaNode& node = machine.numa_nodes[i];
    if (node.cpus.Empty()) {
      continue;
    }
    with_threads.push_back(i);
    if (device != nullptr && hwloc_bitmap_isset(device->nodeset, node.os_index) != 0) {
      near.push_back(i);
    }
  }
  if (near.size() == 1) {
    return near.front();
  }
  return with_threads.size() == 1 ? with_threads.front() : kNowhere;
}

void LocateGpus(const HwlocTopology& topology, Machine& machine) {
  std::set<std::string> unknown;  // said once of all instances of a GPU
  for (Gpu& gpu : machine.gpus) {
    if (gpu.numa != kNowhere) {
      continue;
    }
    hwloc_obj_t device = hwloc_get_pcidev_by_busidstring(topology.get(), gpu.pci_address.c_str());
    gpu.numa = NumaNear(device, machine);
    if (gpu.numa == kNowhere && unknown.insert(gpu.pci_address).second) {
      machine.remarks.push_back(
          absl::StrCat("GPU ", gpu.os_index, " (", gpu.pci_address,
                       "): the platform does not say which NUMA node it is near"));
    }
  }
}

std::string PciAddress(hwloc_obj_t device) {
  const auto& pci = device->attr->pcidev;
  return absl::StrFormat("%04x:%02x:%02x.%x", pci.domain, pci.bus, pci.dev, pci.func);
}

hwloc_obj_t PciParent(hwloc_obj_t device) {
  while (device != nullptr && device->type != HWLOC_OBJ_PCI_DEVICE) {
    device = device->parent;
  }
  return device;
}

}  // namespace muster::topology
