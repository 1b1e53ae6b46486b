#include "topology/hwloc/pci_links.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "topology/hwloc/inventory.h"

namespace muster::topology {
namespace {

constexpr unsigned kNvSwitchClass = 0x0680;  // "other bridge"
// hwloc writes a GPU's own entry as 1,000,000; no link is as fast.
constexpr std::uint64_t kSelf = 1'000'000;

hwloc_obj_t DeviceAt(const HwlocTopology& topology, const std::string& address) {
  return address.empty() ? nullptr
                         : hwloc_get_pcidev_by_busidstring(topology.get(), address.c_str());
}

bool IsBridge(hwloc_obj_t object, hwloc_obj_bridge_type_t upstream) {
  return object->type == HWLOC_OBJ_BRIDGE && object->attr->bridge.upstream_type == upstream;
}

// The objects above the device, nearest first.
std::vector<hwloc_obj_t> Above(hwloc_obj_t device) {
  std::vector<hwloc_obj_t> chain;
  for (hwloc_obj_t at = device->parent; at != nullptr; at = at->parent) {
    chain.push_back(at);
  }
  return chain;
}

// How the PCI tree joins two devices; nothing when they meet above it.
std::optional<LinkKind> LinkByTree(hwloc_obj_t a, hwloc_obj_t b) {
  if (a == nullptr || b == nullptr) {
    return std::nullopt;
  }
  const std::vector<hwloc_obj_t> left = Above(a);
  const std::vector<hwloc_obj_t> right = Above(b);
  for (std::size_t i = 0; i < left.size(); ++i) {
    const auto meet = std::find(right.begin(), right.end(), left[i]);
    if (meet == right.end()) {
      continue;
    }
    if (IsBridge(left[i], HWLOC_OBJ_BRIDGE_HOST)) {
      return LinkKind::kHostBridge;
    }
    if (!IsBridge(left[i], HWLOC_OBJ_BRIDGE_PCI)) {
      return std::nullopt;
    }
    // Below a switch's upstream port is one downstream port for each device.
    const auto deepest =
        std::max<std::ptrdiff_t>(static_cast<std::ptrdiff_t>(i), meet - right.begin());
    return deepest <= 1 ? LinkKind::kSwitch : LinkKind::kBridges;
  }
  return std::nullopt;
}

// The bandwidths between the objects that hwloc knows, in MB/s: its matrix of that name.
class Bandwidths {
 public:
  Bandwidths(const HwlocTopology& topology, const char* name) : topology_(topology.get()) {
    unsigned count = 1;
    if (hwloc_distances_get_by_name(topology_, name, &count, &matrix_, 0) != 0 || count == 0) {
      matrix_ = nullptr;
    }
  }
  Bandwidths(const Bandwidths&) = delete;
  Bandwidths& operator=(const Bandwidths&) = delete;
  ~Bandwidths() {
    if (matrix_ != nullptr) {
      hwloc_distances_release(topology_, matrix_);
    }
  }

  // Between two GPUs' PCI devices, direct or through NVSwitches; 0 for none.
  [[nodiscard]] std::uint64_t Between(hwloc_obj_t a, hwloc_obj_t b) const {
    const std::optional<unsigned> left = Find(a);
    const std::optional<unsigned> right = Find(b);
    if (!left.has_value() || !right.has_value()) {
      return 0;
    }
    return std::max(Value(*left, *right), std::min(IntoSwitches(*left), IntoSwitches(*right)));
  }

 private:
  [[nodiscard]] std::optional<unsigned> Find(hwloc_obj_t pci) const {
    for (unsigned i = 0; matrix_ != nullptr && pci != nullptr && i < matrix_->nbobjs; ++i) {
      if (matrix_->objs[i] != nullptr && PciParent(matrix_->objs[i]) == pci) {
        return i;
      }
    }
    return std::nullopt;
  }

  [[nodiscard]] std::uint64_t Value(unsigned a, unsigned b) const {
    const std::uint64_t value = matrix_->values[std::size_t{a} * matrix_->nbobjs + b];
    return value >= kSelf ? 0 : value;
  }

  [[nodiscard]] std::uint64_t IntoSwitches(unsigned gpu) const {
    std::uint64_t sum = 0;
    for (unsigned i = 0; i < matrix_->nbobjs; ++i) {
      hwloc_obj_t object = matrix_->objs[i];
      const bool is_switch =
          object != nullptr && object->type == HWLOC_OBJ_PCI_DEVICE &&
          (object->attr->pcidev.class_id == kNvSwitchClass ||
           (object->subtype != nullptr && std::string(object->subtype) == "NVSwitch"));
      sum += is_switch ? Value(gpu, i) : 0;
    }
    return sum;
  }

  hwloc_topology_t topology_;
  hwloc_distances_s* matrix_ = nullptr;
};

}  // namespace

LinkKind LinkByNuma(const Machine& machine, std::uint32_t a, std::uint32_t b) {
  if (machine.numa_nodes.size() <= 1) {
    return LinkKind::kNode;
  }
  if (a == kNowhere || b == kNowhere) {
    return LinkKind::kUnknown;
  }
  return a == b ? LinkKind::kNode : LinkKind::kSystem;
}

namespace {

// By the tree of PCI devices, or else by their NUMA nodes.
LinkKind KindOfWay(const Machine& machine, hwloc_obj_t a, hwloc_obj_t b, std::uint32_t numa_a,
                   std::uint32_t numa_b) {
  const std::optional<LinkKind> by_tree = LinkByTree(a, b);
  return by_tree.has_value() ? *by_tree : LinkByNuma(machine, numa_a, numa_b);
}

}  // namespace

void AddDeviceLinks(const HwlocTopology& topology, Machine& machine) {
  const Bandwidths nvlinks(topology, "NVLinkBandwidth");
  const Bandwidths xgmi(topology, "XGMIBandwidth");
  std::vector<hwloc_obj_t> gpus;
  for (const Gpu& gpu : machine.gpus) {
    gpus.push_back(DeviceAt(topology, gpu.pci_address));
  }
  std::vector<hwloc_obj_t> nics;
  for (const Nic& nic : machine.nics) {
    nics.push_back(DeviceAt(topology, nic.pci_address));
  }
  for (std::uint32_t a = 0; a < gpus.size(); ++a) {
    for (std::uint32_t b = a + 1; b < gpus.size(); ++b) {
      if (!machine.gpus[a].parent.empty() || !machine.gpus[b].parent.empty()) {
        continue;  // CUDA gives the instances of MIG no peers
      }
      DeviceLink link{
          a, b, KindOfWay(machine, gpus[a], gpus[b], machine.gpus[a].numa, machine.gpus[b].numa), 0,
          0};
      const std::uint64_t bandwidth =
          std::max(nvlinks.Between(gpus[a], gpus[b]), xgmi.Between(gpus[a], gpus[b]));
      if (bandwidth > 0) {
        link.kind = LinkKind::kNvLink;
        link.bandwidth = bandwidth;
      }
      if (link.kind != LinkKind::kUnknown) {
        machine.gpu_links.push_back(link);
      }
    }
    for (std::uint32_t b = 0; b < nics.size(); ++b) {
      const LinkKind kind =
          KindOfWay(machine, gpus[a], nics[b], machine.gpus[a].numa, machine.nics[b].numa);
      if (kind != LinkKind::kUnknown) {
        machine.nic_links.push_back({a, b, kind, 0, 0});
      }
    }
  }
}

}  // namespace muster::topology
