#include "agent/supervisor/variables/device_environment.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "topology/gpu/libraries.h"

namespace muster::agent {
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

// Those of `gpus` that are the vendor's; one that the machine does not know is the first vendor's.
std::vector<std::uint32_t> OfVendor(const Machine& machine, std::vector<std::uint32_t> gpus,
                                    const topology::GpuLibrary& vendor) {
  std::erase_if(gpus, [&](std::uint32_t gpu) {
    const GpuVendor its = gpu < machine.gpus.size() ? machine.gpus[gpu].vendor : Gpu().vendor;
    return its != vendor.facts().vendor;
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
  variables.push_back(
      {"MUSTER_GPU_SHARE", absl::StrFormat("%.3f", share.value() / double{1000}), false});
  for (const topology::GpuLibrary* library : topology::GpuLibraries()) {
    for (topology::GpuVariable& each :
         library->HoldTo(share, order.machine, whole->gpus.front().gpu)) {
      variables.push_back({std::move(each.name), std::move(each.value), false});
    }
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
    const bool named = topology::GpuLibraryOf(device.vendor).TakesUuid(device);
    names.push_back(named ? device.uuid : absl::StrCat(device.os_index));
  }
  return names;
}

std::vector<std::string> VisibleGpus(const SupervisorOrder& order, const NodeAllocation& node,
                                     const RankPlacement* rank) {
  const std::vector<std::uint32_t> all = Positions(order, node, rank);
  std::vector<std::uint32_t> gpus;
  for (const topology::GpuLibrary* library : topology::GpuLibraries()) {
    const std::vector<std::uint32_t> its = OfVendor(order.machine, all, *library);
    gpus.insert(gpus.end(), its.begin(), its.end());
  }
  return GpuNames(order.machine, gpus);
}

std::vector<DeviceVariable> DeviceVariables(const SupervisorOrder& order,
                                            const NodeAllocation& node, const RankPlacement* rank) {
  const Machine& machine = order.machine;
  const std::vector<std::uint32_t> gpus = Positions(order, node, rank);
  std::vector<DeviceVariable> variables;
  for (const topology::GpuLibrary* library : topology::GpuLibraries()) {
    const std::vector<std::string> names = GpuNames(machine, OfVendor(machine, gpus, *library));
    for (topology::GpuVariable& each : library->Show(machine, absl::StrJoin(names, ","))) {
      variables.push_back({std::move(each.name), std::move(each.value), false});
    }
  }
  AddShare(order, node, variables);
  AddNetworkVariables(order, node, rank, variables);
  return variables;
}

}  // namespace muster::agent
