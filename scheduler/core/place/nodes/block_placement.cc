#include "scheduler/core/place/nodes/block_placement.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "scheduler/core/place/nodes/feature_match.h"
#include "scheduler/core/place/placement.h"
#include "scheduler/core/place/request.h"

namespace muster::core {
namespace {

bool IsDigit(char c) {
  return c >= '0' && c <= '9';
}

// The run of digits, without leading zeros, that begins at `at`, which moves behind it.
std::string TakeNumber(const std::string& text, std::size_t& at) {
  while (at < text.size() && text[at] == '0') {
    ++at;
  }
  const std::size_t first = at;
  while (at < text.size() && IsDigit(text[at])) {
    ++at;
  }
  return text.substr(first, at - first);
}

// Numbers in names compare by value.
bool ComesBefore(const std::string& a, const std::string& b) {
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < a.size() && j < b.size()) {
    if (IsDigit(a[i]) && IsDigit(b[j])) {
      const std::string left = TakeNumber(a, i);
      const std::string right = TakeNumber(b, j);
      if (left != right) {
        return left.size() != right.size() ? left.size() < right.size() : left < right;
      }
    } else if (a[i] != b[j]) {
      return a[i] < b[j];
    } else {
      ++i;
      ++j;
    }
  }
  const std::size_t left = a.size() - i;
  const std::size_t right = b.size() - j;
  return left != right ? left < right : a < b;
}

// The first free cores for each of the ranks, whatever they are near.
bool DealCores(const NodeSnapshot& node, const ResourceRequest& request,
               std::vector<RankPlacement>& ranks) {
  const Machine& machine = *node.machine;
  std::size_t next = 0;
  for (RankPlacement& rank : ranks) {
    if (request.overcommit && &rank != &ranks.front()) {
      rank.cpus = ranks.front().cpus;
      rank.mem_nodes = ranks.front().mem_nodes;
      continue;
    }
    rank.cpus = CpuSet();
    rank.mem_nodes = NumaSet();
    for (; next < machine.cores.size() && rank.cpus.Count() < request.cpus_per_task; ++next) {
      const Core& core = machine.cores[next];
      if (node.taken.cpus.Meets(core.cpus)) {
        continue;
      }
      rank.cpus |= core.cpus;
      if (core.numa < machine.numa_nodes.size()) {
        rank.mem_nodes.Insert(machine.numa_nodes[core.numa].os_index);
      }
    }
    if (rank.cpus.Count() < request.cpus_per_task) {
      return false;
    }
  }
  return true;
}

std::vector<std::uint32_t> FirstFreeGpus(const NodeSnapshot& node, const ResourceRequest& request,
                                         std::uint32_t count) {
  const GpuRequest& kind = GpuKind(request);
  std::vector<std::uint32_t> gpus;
  for (std::uint32_t i = 0; i < node.machine->gpus.size() && gpus.size() < count; ++i) {
    const bool free = i >= node.taken.gpus.size() || node.taken.gpus[i].zero();
    if (free && IsOfKind(node.machine->gpus[i], kind)) {
      gpus.push_back(i);
    }
  }
  return gpus;
}

// Rank i has its part of them in order; where they are fewer than ranks, neighbours share one.
void DealGpus(const std::vector<std::uint32_t>& gpus, std::vector<RankPlacement>& ranks) {
  const std::size_t tasks = ranks.size();
  for (std::size_t i = 0; i < tasks; ++i) {
    const std::size_t first = i * gpus.size() / tasks;
    const std::size_t end =
        gpus.size() < tasks ? std::min(first + 1, gpus.size()) : (i + 1) * gpus.size() / tasks;
    ranks[i].gpus.assign(gpus.begin() + static_cast<std::ptrdiff_t>(first),
                         gpus.begin() + static_cast<std::ptrdiff_t>(end));
  }
}

// How many of `tasks` the node gets while `owed` more nodes must get one each.
std::uint32_t TasksHere(const ResourceRequest& request, std::uint32_t tasks, std::uint32_t owed) {
  return std::min(MostTasksOnNode(request), tasks > owed ? tasks - owed : 1);
}

// The nodes that may take the job: the listed ones, then the others, each by name.
std::vector<const NodeSnapshot*> InOrder(const std::vector<NodeSnapshot>& nodes,
                                         const ResourceRequest& request) {
  std::vector<const NodeSnapshot*> in_order;
  for (const NodeSnapshot& node : nodes) {
    if (node.up && !IsKeptOff(node, request) && NodeMay(node, request)) {
      in_order.push_back(&node);
    }
  }
  const std::set<std::string> listed(request.nodelist.begin(), request.nodelist.end());
  std::sort(in_order.begin(), in_order.end(),
            [&listed](const NodeSnapshot* a, const NodeSnapshot* b) {
              const bool left = listed.contains(a->name);
              const bool right = listed.contains(b->name);
              return left != right ? left : ComesBefore(a->name, b->name);
            });
  return in_order;
}

}  // namespace

std::optional<Allocation> PlaceInBlocks(const std::vector<NodeSnapshot>& nodes,
                                        const ResourceRequest& request) {
  Allocation allocation;
  std::uint32_t missing = request.tasks;
  for (const NodeSnapshot* node : InOrder(nodes, request)) {
    const auto used = static_cast<std::uint32_t>(allocation.nodes.size());
    if (missing == 0 || used >= request.max_nodes) {
      break;
    }
    const std::uint32_t owed = request.min_nodes > used + 1 ? request.min_nodes - used - 1 : 0;
    // What the node can hold is no question of where on it.
    Placed placed = PlaceOnNode(*node, request, TasksHere(request, missing, owed));
    std::vector<RankPlacement>& ranks = placed.allocation.ranks;
    const std::uint32_t count = GpusOnNode(request, placed.tasks);
    const std::vector<std::uint32_t> gpus =
        HidesGpus(*node, request) ? FirstFreeGpus(WithoutOccupied(*node), request, count)
                                  : FirstFreeGpus(*node, request, count);
    if (placed.tasks == 0 || !DealCores(*node, request, ranks)) {
      continue;
    }
    DealGpus(gpus, ranks);
    placed.allocation.gpus.clear();
    for (const std::uint32_t gpu : gpus) {
      placed.allocation.gpus.push_back({gpu, kWholeGpu});
    }
    placed.allocation.cpus = CpuSet();
    placed.allocation.mem_nodes = NumaSet();
    for (const RankPlacement& rank : ranks) {
      placed.allocation.cpus |= rank.cpus;
      placed.allocation.mem_nodes |= rank.mem_nodes;
    }
    missing -= placed.tasks;
    const std::uint32_t tasks = placed.tasks;
    AddPlaced(std::move(placed), tasks, allocation);
  }
  if (missing > 0 || allocation.nodes.size() < request.min_nodes) {
    return std::nullopt;
  }
  return allocation;
}

}  // namespace muster::core
