#include "scheduler/core/place/share_placement.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "scheduler/core/place/locality.h"
#include "scheduler/core/place/request.h"
#include "scheduler/core/place/whole_placement.h"
#include "scheduler/core/state/tables/node_use.h"

namespace muster::core {
namespace {

// The GPUs that have the share left, the fullest first.
std::vector<std::uint32_t> FullestFirst(const NodeSnapshot& node, const ResourceRequest& request) {
  std::vector<std::uint32_t> gpus;
  for (std::uint32_t gpu = 0; gpu < node.machine->gpus.size(); ++gpu) {
    if (IsOfKind(node.machine->gpus[gpu], GpuKind(request)) &&
        FreeShare(node, gpu) >= request.gpu_share) {
      gpus.push_back(gpu);
    }
  }
  std::stable_sort(gpus.begin(), gpus.end(), [&node](std::uint32_t a, std::uint32_t b) {
    return FreeShare(node, a) < FreeShare(node, b);
  });
  return gpus;
}

// The snapshot with that GPU as its only one, untouched.
NodeSnapshot WithOnly(NodeSnapshot node, std::uint32_t gpu) {
  node.taken.gpus.assign(node.machine->gpus.size(), kWholeGpu);
  node.taken.gpus[gpu] = GpuShare();
  return node;
}

// Tasks beside one GPU, which they are given whole for the moment.
Placed PlaceBeside(const NodeSnapshot& node, const ResourceRequest& whole, std::uint32_t limit,
                   const std::vector<std::uint32_t>& gpus) {
  Placed best;
  for (const std::uint32_t gpu : gpus) {
    Placed placed = PlaceWhole(WithOnly(node, gpu), whole, limit);
    const bool local =
        placed.tasks > 0 &&
        std::all_of(placed.allocation.ranks.begin(), placed.allocation.ranks.end(),
                    [&](const RankPlacement& rank) { return IsLocal(*node.machine, rank); });
    if (local && placed.tasks == limit) {
      return placed;
    }
    if (placed.tasks > best.tasks) {
      best = std::move(placed);
    }
  }
  return best;
}

void AddGrant(std::uint32_t gpu, GpuShare share, std::vector<GpuGrant>& grants) {
  const auto at =
      std::lower_bound(grants.begin(), grants.end(), gpu,
                       [](const GpuGrant& grant, std::uint32_t g) { return grant.gpu < g; });
  if (at != grants.end() && at->gpu == gpu) {
    at->share += share;
  } else {
    grants.insert(at, GpuGrant{gpu, share});
  }
}

// One task after the other, each with a share of its own.
Placed PlaceOneByOne(const NodeSnapshot& node, const ResourceRequest& request,
                     std::uint32_t limit) {
  if (!HasGresFree(node, request)) {
    return Placed();
  }
  ResourceRequest one = request;
  one.gres.clear();  // the job's is looked at as a whole
  one.gpu_share = GpuShare();
  one.tasks = 1;
  one.tasks_per_node = 0;
  if (!one.memory_per_node.zero()) {
    one.memory_per_node = Bytes(1);  // the job's is looked at as a whole
  }
  const Bytes free = node.machine->memory - std::min(node.taken.memory, node.machine->memory);
  NodeSnapshot left = node;
  Placed all;
  while (all.tasks < limit) {
    Placed task = PlaceBeside(left, one, 1, FullestFirst(left, request));
    if (task.tasks == 0 || request.memory_per_node > free) {
      break;
    }
    NodeAllocation& part = task.allocation;
    part.gpus.front().share = request.gpu_share;
    AddUse(left.taken, *left.machine, part);
    part.ranks.front().rank = all.tasks++;
    AddGrant(part.gpus.front().gpu, request.gpu_share, all.allocation.gpus);
    all.allocation.ranks.push_back(std::move(part.ranks.front()));
    all.allocation.cpus |= part.cpus;
    all.allocation.mem_nodes |= part.mem_nodes;
  }
  all.allocation.node = node.id;
  all.allocation.name = node.name;
  all.allocation.gres = request.gres;
  all.allocation.memory =
      std::min(MemoryOnNode(*node.machine, request, all.tasks, all.allocation.cpus.Count()), free);
  return all.tasks > 0 ? all : Placed();
}

}  // namespace

Placed PlaceShares(const NodeSnapshot& node, const ResourceRequest& request, std::uint32_t limit) {
  if (request.gpus_per_task.count > 0) {
    return PlaceOneByOne(node, request, limit);
  }
  ResourceRequest whole = request;
  whole.gpu_share = GpuShare();
  Placed placed = PlaceBeside(node, whole, limit, FullestFirst(node, request));
  for (GpuGrant& grant : placed.allocation.gpus) {
    grant.share = request.gpu_share;
  }
  return placed;
}

}  // namespace muster::core
