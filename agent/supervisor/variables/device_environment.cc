#include "agent/supervisor/variables/device_environment.h"

#include <algorithm>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"

namespace muster {
namespace {

const NodeAllocation* WholePart(const SupervisorOrder& order, const NodeAllocation& node) {
  const std::vector<NodeAllocation>& parts = order.launch.allocation.nodes;
  const auto found = std::find_if(parts.begin(), parts.end(), [&node](const NodeAllocation& part) {
    return part.name == node.name;
  });
  return found == parts.end() ? nullptr : &*found;
}

std::vector<std::uint32_t> Positions(const SupervisorOrder& order, const NodeAllocation& node,
                                     const RankPlacement* rank) {
  if (rank != nullptr && rank->sees_own_gpus) {
    return rank->gpus;
  }
  std::vector<std::uint32_t> gpus = DeviceOrder(node);
  const NodeAllocation* whole = WholePart(order, node);
  return gpus.empty() && whole != nullptr ? DeviceOrder(*whole) : gpus;
}

std::vector<std::uint32_t> OfVendor(const Machine& machine, std::vector<std::uint32_t> gpus,
                                    GpuVendor vendor) {
  std::erase_if(gpus, [&](std::uint32_t gpu) {
    const GpuVendor its = gpu < machine.gpus.size() ? machine.gpus[gpu].vendor : GpuVendor::kNvidia;
    return its != vendor;
  });
  return gpus;
}

void AddShare(const SupervisorOrder& order, const NodeAllocation& node,
              std::vector<DeviceVariable>& variables) {
  const GpuShare share = order.launch.spec.request.gpu_share;
  const NodeAllocation* whole = WholePart(order, node);
  if (share.zero() || whole == nullptr || whole->gpus.empty()) {
    return;
  }
  constexpr std::uint32_t kPerCent = 10;  // thousandths
  const std::vector<Gpu>& gpus = order.machine.gpus;
  const std::uint32_t gpu = whole->gpus.front().gpu;
  const Bytes memory = gpu < gpus.size() ? gpus[gpu].memory : Bytes();
  variables.push_back(
      {"MUSTER_GPU_SHARE", absl::StrFormat("%.3f", share.value() / double{1000}), false});
  variables.push_back({"CUDA_MPS_ACTIVE_THREAD_PERCENTAGE",
                       absl::StrCat(std::max(share.value() / kPerCent, 1U)), false});
  if (!memory.zero()) {
    const std::uint64_t bytes = memory.value() / kWholeGpu.value() * share.value();
    variables.push_back({"CUDA_MPS_PINNED_DEVICE_MEM_LIMIT",
                         absl::StrCat("0=", bytes / kMebibyte.value(), "M"), false});
  }
  if (!order.machine.mps.empty()) {
    variables.push_back({"CUDA_MPS_PIPE_DIRECTORY", order.machine.mps, false});
  }
}

// The name of the rank's NIC, if UCX and NCCL know it.
std::string FabricName(const Machine& machine, const RankPlacement& rank) {
  const bool known = rank.nic > 0 && rank.nic <= machine.nics.size();
  return known && machine.nics[rank.nic - 1].fabric ? machine.nics[rank.nic - 1].name : "";
}

// NCCL's list is the same for all ranks of the node: each finds its own NIC among them, and NCCL
// wants them to agree.
void AddNics(const Machine& machine, const NodeAllocation& node, const RankPlacement& rank,
             std::vector<DeviceVariable>& variables) {
  if (!machine.enforced) {
    return;  // a played machine's NICs are not here
  }
  std::set<std::string> names;
  for (const RankPlacement& each : node.ranks) {
    names.insert(FabricName(machine, each));
  }
  names.erase("");
  if (const std::string own = FabricName(machine, rank); !own.empty()) {
    variables.push_back({"UCX_NET_DEVICES", own + ":1", true});
  }
  if (!names.empty()) {
    variables.push_back({"NCCL_IB_HCA", absl::StrCat("=", absl::StrJoin(names, ",")), true});
  }
}

}  // namespace

std::vector<std::uint32_t> DeviceOrder(const NodeAllocation& node) {
  std::vector<std::uint32_t> order;
  const auto add = [&order](std::uint32_t gpu) {
    if (std::find(order.begin(), order.end(), gpu) == order.end()) {
      order.push_back(gpu);
    }
  };
  std::size_t most = 0;
  for (const RankPlacement& rank : node.ranks) {
    most = std::max(most, rank.gpus.size());
  }
  for (std::size_t round = 0; round < most; ++round) {
    for (const RankPlacement& rank : node.ranks) {
      if (round < rank.gpus.size()) {
        add(rank.gpus[round]);
      }
    }
  }
  for (const GpuGrant& grant : node.gpus) {
    add(grant.gpu);
  }
  return order;
}

std::vector<std::string> GpuNames(const Machine& machine, const std::vector<std::uint32_t>& gpus) {
  std::vector<std::string> names;
  for (const std::uint32_t gpu : gpus) {
    if (gpu >= machine.gpus.size()) {
      names.push_back(absl::StrCat(gpu));
      continue;
    }
    const Gpu& device = machine.gpus[gpu];
    // ROCr knows a GPU without a unique id of its own by its number alone.
    const bool named = device.vendor == GpuVendor::kAmd ? absl::StartsWith(device.uuid, "GPU-")
                                                        : !device.uuid.empty();
    names.push_back(named ? device.uuid : absl::StrCat(device.os_index));
  }
  return names;
}

std::vector<std::string> VisibleGpus(const SupervisorOrder& order, const NodeAllocation& node,
                                     const RankPlacement* rank) {
  const std::vector<std::uint32_t> all = Positions(order, node, rank);
  std::vector<std::uint32_t> gpus = OfVendor(order.machine, all, GpuVendor::kNvidia);
  const std::vector<std::uint32_t> amd = OfVendor(order.machine, all, GpuVendor::kAmd);
  gpus.insert(gpus.end(), amd.begin(), amd.end());
  return GpuNames(order.machine, gpus);
}

std::vector<DeviceVariable> DeviceVariables(const SupervisorOrder& order,
                                            const NodeAllocation& node, const RankPlacement* rank) {
  const Machine& machine = order.machine;
  const std::vector<std::uint32_t> gpus = Positions(order, node, rank);
  const auto names = [&](GpuVendor vendor) {
    return absl::StrJoin(GpuNames(machine, OfVendor(machine, gpus, vendor)), ",");
  };
  std::vector<DeviceVariable> variables = {
      {"CUDA_VISIBLE_DEVICES", names(GpuVendor::kNvidia), false},
      {"CUDA_DEVICE_ORDER", "PCI_BUS_ID", false}};
  const bool has_amd = std::any_of(machine.gpus.begin(), machine.gpus.end(),
                                   [](const Gpu& gpu) { return gpu.vendor == GpuVendor::kAmd; });
  if (has_amd) {
    variables.push_back({"ROCR_VISIBLE_DEVICES", names(GpuVendor::kAmd), false});
  }
  AddShare(order, node, variables);
  if (rank != nullptr) {
    AddNics(machine, node, *rank, variables);
  }
  return variables;
}

}  // namespace muster
