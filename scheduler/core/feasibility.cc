#include "scheduler/core/feasibility.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "scheduler/core/placement.h"
#include "scheduler/core/span.h"

namespace muster {
namespace {

// A node's share of the job when it spreads over as many nodes as it may.
std::uint32_t TasksPerNode(const ResourceRequest& request) {
  return (request.tasks + request.max_nodes - 1) / request.max_nodes;
}

bool Counts(const Shortage& counted, const Shortage& shortage) {
  return counted.kind == shortage.kind && counted.needed == shortage.needed;
}

// Adds one node's shortage to those counted so far.
void Count(std::vector<Shortage>& counted, const Shortage& shortage) {
  const auto found = std::find_if(counted.begin(), counted.end(),
                                  [&](const Shortage& other) { return Counts(other, shortage); });
  if (found == counted.end()) {
    counted.push_back(shortage);
    return;
  }
  found->nodes += shortage.nodes;
  found->available = std::max(found->available, shortage.available);
}

// What the nodes that take their share still lack together: nodes, or room for all tasks.
void CountTogether(std::vector<std::uint32_t> room, bool no_nodes, const ResourceRequest& request,
                   Reason& reason) {
  const auto able = static_cast<std::uint32_t>(room.size());
  if ((able > 0 || no_nodes) && able < request.min_nodes) {
    reason.shortages.push_back(Shortage{ShortageKind::kNodes, 0, request.min_nodes, able});
    return;
  }
  if (able == 0) {
    return;
  }
  std::sort(room.begin(), room.end(), std::greater<>());
  std::uint64_t tasks = 0;
  for (std::size_t i = 0; i < std::min<std::size_t>(able, request.max_nodes); ++i) {
    tasks += room[i];
  }
  reason.shortages.push_back(Shortage{ShortageKind::kTasks, able, request.tasks, tasks});
}

bool FitsSomehow(const std::vector<NodePicture>& nodes, const ResourceRequest& request,
                 ClusterView view) {
  return PlaceJob(nodes, request, view).has_value();
}

}  // namespace

std::vector<Shortage> ShortagesOf(const NodePicture& node, const ResourceRequest& request) {
  if (!node.up) {
    return {Shortage{ShortageKind::kDown, 1, 0, 0}};
  }
  if (node.drained) {
    return {Shortage{ShortageKind::kDrained, 1, 0, 0}};
  }
  const Machine& machine = *node.machine;
  const std::uint32_t tasks = TasksPerNode(request);
  if (PlaceOnNode(node, request, tasks).tasks >= tasks) {
    return {};
  }
  const std::uint64_t cores = request.exclusive ? machine.cores.size()
                                                : std::uint64_t{CoresPerTask(machine, request)} *
                                                      (request.overcommit ? 1 : tasks);
  const std::uint32_t free_cores = FreeCores(node);
  if (free_cores < cores) {
    return {Shortage{ShortageKind::kCores, 1, cores, free_cores}};
  }
  const std::uint32_t gpus = GpusOnNode(request, tasks);
  const GpuRequest& kind =
      request.gpus_per_task.count > 0 ? request.gpus_per_task : request.gpus_per_node;
  if (gpus > 0 &&
      std::none_of(machine.gpus.begin(), machine.gpus.end(),
                   [&](const Gpu& gpu) { return IsOfType(gpu, kind.type); }) &&
      !machine.gpus.empty()) {
    return {Shortage{ShortageKind::kGpuType, 1, gpus, 0}};
  }
  if (gpus > 0 && FreeGpus(node, kind) < gpus) {
    return {Shortage{ShortageKind::kGpus, 1, gpus, FreeGpus(node, kind)}};
  }
  const std::uint64_t cpus =
      cores * AllCpus(machine).Count() / std::max<std::size_t>(machine.cores.size(), 1);
  const Bytes memory = MemoryOnNode(
      machine, request, tasks,
      static_cast<std::uint32_t>(std::min<std::uint64_t>(cpus, AllCpus(machine).Count())));
  const Bytes free = machine.memory - std::min(node.taken.memory, machine.memory);
  if (free < memory) {
    return {Shortage{ShortageKind::kMemory, 1, memory.value(), free.value()}};
  }
  return {Shortage{ShortageKind::kTasks, 1, tasks, PlaceOnNode(node, request, tasks).tasks}};
}

Reason WhyNotNow(const std::vector<NodePicture>& nodes, const ResourceRequest& request) {
  Reason reason;
  reason.nodes = static_cast<std::uint32_t>(nodes.size());
  const bool ever = FitsSomehow(nodes, request, ClusterView::kEmptyAll);
  if (nodes.empty() || (ever && !FitsSomehow(nodes, request, ClusterView::kEmptyUsable))) {
    reason.kind = ReasonKind::kReqNodeNotAvail;
  } else if (!ever) {
    reason.kind = ReasonKind::kBadConstraints;
    reason.verdict = ReasonClass::kNever;
  } else {
    reason.kind = ReasonKind::kResources;
  }
  std::vector<std::uint32_t> room;  // tasks that each node without a shortage can take
  for (const NodePicture& node : nodes) {
    NodePicture looked_at = node;
    if (reason.kind == ReasonKind::kBadConstraints) {
      looked_at.taken = NodeUse();
      looked_at.up = true;
      looked_at.drained = false;
    }
    const std::vector<Shortage> shortages = ShortagesOf(looked_at, request);
    for (const Shortage& shortage : shortages) {
      Count(reason.shortages, shortage);
    }
    if (shortages.empty()) {
      const std::uint32_t limit =
          request.tasks_per_node > 0 ? request.tasks_per_node : request.tasks;
      room.push_back(PlaceOnNode(looked_at, request, limit).tasks);
    }
  }
  CountTogether(std::move(room), nodes.empty(), request, reason);
  return reason;
}

}  // namespace muster
