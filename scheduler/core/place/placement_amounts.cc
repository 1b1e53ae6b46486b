// What is free of a node, and how placements of several nodes are put together.
#include <algorithm>
#include <string>
#include <utility>

#include "scheduler/core/place/placement.h"
#include "scheduler/core/place/share_placement.h"

namespace muster {
namespace {

char Lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

}  // namespace

std::uint32_t FreeCores(const NodePicture& node) {
  return static_cast<std::uint32_t>(
      std::count_if(node.machine->cores.begin(), node.machine->cores.end(),
                    [&](const Core& core) { return !node.taken.cpus.Meets(core.cpus); }));
}

std::uint32_t FreeGpus(const NodePicture& node, const GpuRequest& request) {
  std::uint32_t free = 0;
  for (std::size_t i = 0; i < node.machine->gpus.size(); ++i) {
    if (FreeShare(node, i) == kWholeGpu && IsOfType(node.machine->gpus[i], request.type)) {
      ++free;
    }
  }
  return free;
}

std::uint32_t GpusOnNode(const ResourceRequest& request, std::uint32_t tasks) {
  const std::uint64_t gpus =
      request.gpus_per_node.count + std::uint64_t{request.gpus_per_task.count} * tasks;
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(gpus, UINT32_MAX));
}

bool IsOfType(const std::string& model, const std::string& type) {
  return type.empty() ||
         std::search(model.begin(), model.end(), type.begin(), type.end(),
                     [](char a, char b) { return Lower(a) == Lower(b); }) != model.end();
}

bool IsOfType(const Gpu& gpu, const std::string& type) {
  return IsOfType(gpu.model, type);
}

bool AddPlaced(Placed placed, std::uint32_t tasks, Allocation& allocation) {
  if (placed.tasks < tasks) {
    return false;
  }
  std::uint32_t before = 0;
  if (!allocation.nodes.empty()) {
    for (const RankPlacement& rank : allocation.nodes.back().ranks) {
      before = std::max(before, rank.rank + 1);
    }
  }
  for (RankPlacement& rank : placed.allocation.ranks) {
    rank.rank += before;
  }
  allocation.nodes.push_back(std::move(placed.allocation));
  return true;
}

}  // namespace muster
