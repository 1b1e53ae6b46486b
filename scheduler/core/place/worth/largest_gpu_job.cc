#include "scheduler/core/place/worth/largest_gpu_job.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>

#include "scheduler/core/place/gpu_choice.h"
#include "scheduler/core/place/gpu_links.h"
#include "scheduler/core/place/nodes/node_tree.h"
#include "scheduler/core/place/request.h"

namespace muster::core {
namespace {

// The most of these GPUs that are all joined by NVLink; at least one where there is one.
std::uint32_t JoinedByNvLink(const Machine& machine, const std::vector<std::uint32_t>& gpus) {
  const GpuLinkTable links(machine);
  for (auto count = static_cast<std::uint32_t>(gpus.size()); count > 1; --count) {
    const std::vector<std::uint32_t> set = ChooseGpus(links, {{gpus, 1}}, {1, count, count, 1});
    const std::optional<DeviceLink> weakest = WeakestLink(machine, set);
    if (weakest.has_value() && weakest->kind == LinkKind::kNvLink) {
      return count;
    }
  }
  return gpus.empty() ? 0 : 1;
}

}  // namespace

std::vector<LargestGpuJob> LargestGpuJobs(const std::vector<NodeSnapshot>& nodes,
                                          const Network* network) {
  std::optional<NodeTree> tree;
  if (network != nullptr && !network->switches.empty()) {
    tree.emplace(*network, nodes);
  }
  std::map<std::string, LargestGpuJob> models;
  std::map<std::string, std::map<std::uint32_t, std::uint32_t>> on_leaf;
  for (std::uint32_t at = 0; at < nodes.size(); ++at) {
    const NodeSnapshot& node = nodes[at];
    if (!node.up || node.drained) {
      continue;
    }
    std::map<std::string, std::vector<std::uint32_t>> free;
    for (std::uint32_t gpu = 0; gpu < node.machine->gpus.size(); ++gpu) {
      const std::string& model = node.machine->gpus[gpu].model;
      ++models[model].gpus;
      if (FreeShare(node, gpu) == kWholeGpu && !IsOccupied(node.gpu_occupants, gpu)) {
        free[model].push_back(gpu);
      }
    }
    const std::uint32_t cores = FreeCores(node);
    for (const auto& [model, gpus] : free) {
      LargestGpuJob& largest = models[model];
      const auto count = static_cast<std::uint32_t>(gpus.size());
      const std::uint32_t usable = std::min(count, cores);
      largest.free += count;
      largest.on_node = std::max(largest.on_node, usable);
      largest.anywhere += usable;
      if (usable > largest.on_nvlink) {
        largest.on_nvlink =
            std::max(largest.on_nvlink, std::min(JoinedByNvLink(*node.machine, gpus), cores));
      }
      if (tree.has_value()) {
        std::uint32_t& leaf = on_leaf[model][tree->LeafOf(at)];
        leaf += usable;
        largest.on_leaf = std::max(largest.on_leaf, leaf);
      }
    }
  }
  std::vector<LargestGpuJob> all;
  for (auto& [model, largest] : models) {
    largest.model = model;
    all.push_back(std::move(largest));
  }
  return all;
}

}  // namespace muster::core
