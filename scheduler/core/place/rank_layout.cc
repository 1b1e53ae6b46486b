#include "scheduler/core/place/rank_layout.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <numeric>
#include <utility>

#include "scheduler/core/place/gpu_choice.h"
#include "scheduler/core/place/gpu_links.h"
#include "scheduler/core/place/grid_numbers.h"
#include "scheduler/core/place/locality.h"
#include "scheduler/core/place/request.h"

namespace muster::core {
namespace {

// Where the rank's first core is.
std::uint32_t SocketOfRank(const Machine& machine, const RankPlacement& rank) {
  const std::uint32_t first = rank.cpus.First();
  const auto core = std::find_if(machine.cores.begin(), machine.cores.end(),
                                 [first](const Core& each) { return each.cpus.Contains(first); });
  return core == machine.cores.end() ? 0 : SocketOf(*core);
}

// One node's part of the allocation.
class NodeLayout {
 public:
  NodeLayout(const ResourceRequest& request, const Machine& machine, NodeAllocation& part)
      : request_(request), layout_(*request.layout), machine_(machine), part_(part) {}

  void DealToSockets() {
    std::vector<RankPlacement>& ranks = part_.ranks;
    if (layout_.sockets == Dealing::kFcyclic && !SharesCores() && part_.gpus.empty()) {
      return SpreadCores();
    }
    if (layout_.sockets == Dealing::kUnsaid) {
      return;
    }
    std::map<std::uint32_t, std::vector<RankPlacement>> on_socket;
    for (RankPlacement& rank : ranks) {
      on_socket[SocketOfRank(machine_, rank)].push_back(std::move(rank));
    }
    ranks.clear();
    const bool block = layout_.sockets == Dealing::kBlock;
    for (std::size_t round = 0, before = ~std::size_t{0}; before != ranks.size(); ++round) {
      before = ranks.size();
      for (auto& [socket, waiting] : on_socket) {
        if (block) {
          std::move(waiting.begin(), waiting.end(), std::back_inserter(ranks));
          waiting.clear();
        } else if (round < waiting.size()) {
          ranks.push_back(std::move(waiting[round]));
        }
      }
    }
  }

  // Ranks of one group behind one another, on the GPUs that are joined best: of the group that
  // exchanges most.
  void JoinGroups() {
    const ParallelGroups& groups = layout_.parallel;
    const std::uint32_t size = groups.tensor > 1    ? groups.tensor
                               : groups.context > 1 ? groups.context
                                                    : ReplicasTogether(groups);
    std::vector<RankPlacement>& ranks = part_.ranks;
    const bool one_each = std::all_of(ranks.begin(), ranks.end(), [](const RankPlacement& rank) {
      return rank.gpus.size() == 1;
    });
    if (size < 2 || !one_each || ranks.size() <= size) {
      return;
    }
    std::map<std::uint32_t, RankPlacement> by_gpu;
    for (const RankPlacement& rank : ranks) {
      by_gpu.emplace(rank.gpus.front(), rank);
    }
    if (by_gpu.size() < ranks.size()) {
      return;  // some share a GPU
    }
    ranks.clear();
    const GpuLinkTable links(machine_);
    while (!by_gpu.empty()) {
      const auto count = static_cast<std::uint32_t>(std::min<std::size_t>(size, by_gpu.size()));
      std::vector<std::uint32_t> left;
      left.reserve(by_gpu.size());
      for (const auto& [gpu, rank] : by_gpu) {
        left.push_back(gpu);
      }
      const std::vector<std::uint32_t> group =
          count < 2 ? left : ChooseGpus(links, {{left, 1}}, {1, count, count, 1});
      for (const std::uint32_t gpu : group) {
        ranks.push_back(std::move(by_gpu.at(gpu)));
        by_gpu.erase(gpu);
      }
    }
  }

  void Bind() {
    for (std::size_t local = 0; local < part_.ranks.size(); ++local) {
      RankPlacement& rank = part_.ranks[local];
      const NumaSet near = rank.mem_nodes;
      BindCpus(local, rank);
      BindMemory(local, near, rank);
    }
  }

 private:
  [[nodiscard]] bool SharesCores() const { return request_.overcommit; }

  // Each rank gets its cores round by round from the sockets.
  void SpreadCores() {
    std::map<std::uint32_t, std::vector<const Core*>> on_socket;
    for (const Core& core : machine_.cores) {
      const bool ours =
          std::any_of(part_.ranks.begin(), part_.ranks.end(),
                      [&core](const RankPlacement& rank) { return rank.cpus.Includes(core.cpus); });
      if (ours) {
        on_socket[SocketOf(core)].push_back(&core);
      }
    }
    std::vector<const Core*> order;
    for (std::size_t round = 0, before = ~std::size_t{0}; before != order.size(); ++round) {
      before = order.size();
      for (const auto& [socket, cores] : on_socket) {
        if (round < cores.size()) {
          order.push_back(cores[round]);
        }
      }
    }
    auto next = order.begin();
    for (RankPlacement& rank : part_.ranks) {
      const std::uint32_t wanted = rank.cpus.Count();
      rank.cpus = CpuSet();
      rank.mem_nodes = NumaSet();
      for (; next != order.end() && rank.cpus.Count() < wanted; ++next) {
        rank.cpus |= (*next)->cpus;
        if ((*next)->numa < machine_.numa_nodes.size()) {
          rank.mem_nodes.Insert(machine_.numa_nodes[(*next)->numa].os_index);
        }
      }
      rank.mem_nodes &= part_.mem_nodes;
    }
  }

  void BindCpus(std::size_t local, RankPlacement& rank) const {
    CpuSet cpus;
    switch (layout_.cpu_bind) {
      case CpuBind::kUnsaid:
      case CpuBind::kCores:
        cpus = rank.cpus;
        break;
      case CpuBind::kNone:
        cpus = part_.cpus;
        break;
      case CpuBind::kThreads:
        cpus = ThreadsOf(rank);
        break;
      case CpuBind::kSockets:
        cpus = Around(rank, SocketOf);
        break;
      case CpuBind::kLdoms:
        cpus = Around(rank, [](const Core& core) { return core.numa; });
        break;
      case CpuBind::kRankLdom:
        cpus = machine_.numa_nodes.empty()
                   ? CpuSet()
                   : machine_.numa_nodes[local % machine_.numa_nodes.size()].cpus;
        break;
      case CpuBind::kMapCpu:
      case CpuBind::kMaskCpu:
        cpus = layout_.cpu_list[local % layout_.cpu_list.size()];
        break;
    }
    cpus &= part_.cpus;
    rank.cpus = FirstThreads(cpus.Empty() ? rank.cpus : cpus);
  }

  // Of each core the threads that count (--threads-per-core), unless they are named.
  [[nodiscard]] CpuSet FirstThreads(const CpuSet& cpus) const {
    const std::uint32_t most = layout_.threads_per_core;
    if (most == 0 || !layout_.cpu_list.empty()) {
      return cpus;
    }
    CpuSet first;
    for (const Core& core : machine_.cores) {
      const std::vector<std::uint32_t> threads = (core.cpus & cpus).Members();
      for (std::size_t i = 0; i < std::min<std::size_t>(most, threads.size()); ++i) {
        first.Insert(threads[i]);
      }
    }
    return first;
  }

  // As many hardware threads of the rank's cores as it asked for: the first of each core, then the
  // second.
  [[nodiscard]] CpuSet ThreadsOf(const RankPlacement& rank) const {
    CpuSet chosen;
    for (std::size_t round = 0, before = ~std::size_t{0}; before != chosen.Count(); ++round) {
      before = chosen.Count();
      for (const Core& core : machine_.cores) {
        const std::vector<std::uint32_t> threads = core.cpus.Members();
        if (rank.cpus.Includes(core.cpus) && round < threads.size() &&
            chosen.Count() < request_.cpus_per_task) {
          chosen.Insert(threads[round]);
        }
      }
    }
    return chosen;
  }

  // The threads of all cores that are where the rank has cores.
  template <class PlaceOf>
  [[nodiscard]] CpuSet Around(const RankPlacement& rank, PlaceOf place_of) const {
    std::vector<std::uint32_t> places;
    for (const Core& core : machine_.cores) {
      if (rank.cpus.Meets(core.cpus)) {
        places.push_back(place_of(core));
      }
    }
    CpuSet around;
    for (const Core& core : machine_.cores) {
      if (std::find(places.begin(), places.end(), place_of(core)) != places.end()) {
        around |= core.cpus;
      }
    }
    return around;
  }

  void BindMemory(std::size_t local, const NumaSet& near, RankPlacement& rank) const {
    NumaSet nodes = near;
    if (layout_.mem_bind == MemBind::kNone) {
      nodes = part_.mem_nodes;
    } else if (layout_.mem_bind == MemBind::kRank && !machine_.numa_nodes.empty()) {
      nodes = NumaSet::Of({machine_.numa_nodes[local % machine_.numa_nodes.size()].os_index});
    } else if (!layout_.mem_list.empty()) {
      nodes = layout_.mem_list[local % layout_.mem_list.size()];
    } else if (layout_.cpu_bind == CpuBind::kNone || layout_.cpu_bind > CpuBind::kCores) {
      nodes = Beside(rank.cpus);
    }
    nodes &= part_.mem_nodes;
    rank.mem_nodes = nodes.Empty() ? near : nodes;
  }

  [[nodiscard]] NumaSet Beside(const CpuSet& cpus) const {
    NumaSet nodes;
    for (const NumaNode& node : machine_.numa_nodes) {
      if (node.cpus.Meets(cpus)) {
        nodes.Insert(node.os_index);
      }
    }
    return nodes;
  }

  const ResourceRequest& request_;
  const RankLayout& layout_;
  const Machine& machine_;
  NodeAllocation& part_;
};

// The part's GPUs on the NUMA nodes of the rank's cores; where there are none, its own.
std::vector<std::uint32_t> ClosestGpus(const Machine& machine, const NodeAllocation& part,
                                       const RankPlacement& rank) {
  std::vector<std::uint32_t> closest;
  for (const GpuGrant& grant : part.gpus) {
    const std::uint32_t numa = machine.gpus[grant.gpu].numa;
    const bool beside = std::any_of(
        machine.cores.begin(), machine.cores.end(),
        [&](const Core& core) { return core.numa == numa && core.cpus.Meets(rank.cpus); });
    if (beside) {
      closest.push_back(grant.gpu);
    }
  }
  std::stable_partition(closest.begin(), closest.end(), [&rank](std::uint32_t gpu) {
    return std::find(rank.gpus.begin(), rank.gpus.end(), gpu) != rank.gpus.end();
  });
  return closest.empty() ? rank.gpus : closest;
}

// The first of the rank's closest GPUs that fewer than `most` ranks have; the first where none is.
std::vector<std::uint32_t> OneOf(const std::vector<std::uint32_t>& closest, std::uint32_t most,
                                 std::map<std::uint32_t, std::uint32_t>& used) {
  const auto free = std::find_if(closest.begin(), closest.end(),
                                 [&](std::uint32_t gpu) { return used[gpu] < most; });
  if (closest.empty()) {
    return {};
  }
  const std::uint32_t gpu = free == closest.end() ? closest.front() : *free;
  ++used[gpu];
  return {gpu};
}

void BindGpus(const RankLayout& layout, const Machine& machine, NodeAllocation& part) {
  if (layout.gpu_bind <= GpuBind::kNone || part.gpus.empty()) {
    return;
  }
  std::map<std::uint32_t, std::uint32_t> used;
  for (std::size_t local = 0; local < part.ranks.size(); ++local) {
    RankPlacement& rank = part.ranks[local];
    std::vector<std::uint32_t> sees;
    switch (layout.gpu_bind) {
      case GpuBind::kUnsaid:
      case GpuBind::kNone:
        break;
      case GpuBind::kClosest:
        sees = ClosestGpus(machine, part, rank);
        break;
      case GpuBind::kSingle:
        sees = OneOf(ClosestGpus(machine, part, rank), std::max(layout.gpu_bind_count, 1U), used);
        break;
      case GpuBind::kPerTask:
        sees = rank.gpus;
        sees.resize(std::min<std::size_t>(sees.size(), layout.gpu_bind_count));
        break;
      case GpuBind::kMapGpu:
      case GpuBind::kMaskGpu:
        for (const std::uint32_t number :
             layout.gpu_list[local % layout.gpu_list.size()].Members()) {
          if (number < part.gpus.size()) {
            sees.push_back(part.gpus[number].gpu);
          }
        }
        break;
    }
    rank.gpus = std::move(sees);
    rank.sees_own_gpus = true;
  }
}

// The ranks of the allocation in the order in which they are given their numbers.
using Sequence = std::vector<RankPlacement*>;

// Over nodes round by round, `plane` at a time.
Sequence RoundByRound(Allocation& allocation, std::size_t plane) {
  Sequence sequence;
  for (std::size_t first = 0, before = ~std::size_t{0}; before != sequence.size(); first += plane) {
    before = sequence.size();
    for (NodeAllocation& part : allocation.nodes) {
      for (std::size_t i = first; i < std::min(first + plane, part.ranks.size()); ++i) {
        sequence.push_back(&part.ranks[i]);
      }
    }
  }
  return sequence;
}

// Node by node, those on the first node's leaf switch first, then on that of the next.
Sequence LeafByLeaf(Allocation& allocation,
                    const std::function<std::uint32_t(std::size_t)>& leaf_of) {
  std::vector<std::vector<std::size_t>> leaves;
  std::map<std::uint32_t, std::size_t> place;
  for (std::size_t i = 0; i < allocation.nodes.size(); ++i) {
    const auto [known, is_new] = place.emplace(leaf_of(i), leaves.size());
    if (is_new) {
      leaves.emplace_back();
    }
    leaves[known->second].push_back(i);
  }
  Sequence sequence;
  for (const std::vector<std::size_t>& leaf : leaves) {
    for (const std::size_t node : leaf) {
      for (RankPlacement& rank : allocation.nodes[node].ranks) {
        sequence.push_back(&rank);
      }
    }
  }
  return sequence;
}

void NumberInOrder(const Sequence& sequence) {
  std::uint32_t next = 0;
  for (RankPlacement* rank : sequence) {
    rank->rank = next++;
  }
}

// Neighbours together, segment by segment.
bool ByLeaf(const ResourceRequest& request) {
  const Dealing dealing = request.layout.has_value() ? request.layout->nodes : Dealing::kUnsaid;
  return IsInSegments(request) && (dealing == Dealing::kUnsaid || dealing == Dealing::kBlock);
}

std::size_t RanksOf(const Allocation& allocation) {
  return std::accumulate(
      allocation.nodes.begin(), allocation.nodes.end(), std::size_t{0},
      [](std::size_t sum, const NodeAllocation& part) { return sum + part.ranks.size(); });
}

// On the grid, by where each rank's first core is.
void NumberOnGrid(const std::vector<std::uint32_t>& grid,
                  const std::function<const Machine&(std::size_t)>& machine_of,
                  const std::function<std::uint32_t(std::size_t)>& leaf_of,
                  Allocation& allocation) {
  const Sequence sequence = LeafByLeaf(allocation, leaf_of);
  std::map<const RankPlacement*, GridPlace> place_of;
  for (std::size_t i = 0; i < allocation.nodes.size(); ++i) {
    for (const RankPlacement& rank : allocation.nodes[i].ranks) {
      place_of[&rank] = {leaf_of(i), static_cast<std::uint32_t>(i),
                         SocketOfRank(machine_of(i), rank)};
    }
  }
  std::vector<GridPlace> places;
  places.reserve(sequence.size());
  for (const RankPlacement* rank : sequence) {
    places.push_back(place_of.at(rank));
  }
  const std::vector<std::uint32_t> numbers = NumbersOnGrid(grid, places);
  for (std::size_t i = 0; i < sequence.size(); ++i) {
    sequence[i]->rank = numbers[i];
  }
  allocation.grid = grid;
}

void Number(const ResourceRequest& request,
            const std::function<const Machine&(std::size_t)>& machine_of,
            const std::function<std::uint32_t(std::size_t)>& leaf_of, Allocation& allocation) {
  const RankLayout& layout = *request.layout;
  const ParallelGroups& groups = layout.parallel;
  const std::size_t ranks = RanksOf(allocation);  // other than asked for in an elastic job
  if (!layout.grid.empty() && ranks == RanksOfGrid(layout.grid)) {
    NumberOnGrid(layout.grid, machine_of, leaf_of, allocation);
  } else if (RanksOfGroups(groups) > 1 && ranks == RanksOfGroups(groups)) {
    const Sequence places = LeafByLeaf(allocation, leaf_of);
    for (std::uint32_t i = 0; i < places.size(); ++i) {
      places[i]->rank = RankOfGroups(groups, i);
    }
  } else if (RanksOfGroups(groups) > 1 || ByLeaf(request)) {
    NumberInOrder(LeafByLeaf(allocation, leaf_of));
  } else {
    std::size_t plane = SIZE_MAX / 2;
    plane = layout.nodes == Dealing::kCyclic ? 1 : plane;
    plane = layout.nodes == Dealing::kPlane ? layout.plane : plane;
    NumberInOrder(RoundByRound(allocation, plane));
  }
  for (NodeAllocation& part : allocation.nodes) {
    std::sort(part.ranks.begin(), part.ranks.end(),
              [](const RankPlacement& a, const RankPlacement& b) { return a.rank < b.rank; });
  }
}

}  // namespace

void LayOutRanks(const ResourceRequest& request,
                 const std::function<const Machine&(std::size_t)>& machine_of,
                 const std::function<std::uint32_t(std::size_t)>& leaf_of, Allocation& allocation) {
  if (!request.layout.has_value()) {
    if (ByLeaf(request)) {
      NumberInOrder(LeafByLeaf(allocation, leaf_of));
    }
    for (std::size_t i = 0; i < allocation.nodes.size(); ++i) {
      GiveDevices(request, machine_of(i), allocation.nodes[i]);
    }
    return;
  }
  for (std::size_t i = 0; i < allocation.nodes.size(); ++i) {
    NodeLayout node(request, machine_of(i), allocation.nodes[i]);
    node.DealToSockets();
    node.JoinGroups();
  }
  Number(request, machine_of, leaf_of, allocation);
  for (std::size_t i = 0; i < allocation.nodes.size(); ++i) {
    NodeLayout(request, machine_of(i), allocation.nodes[i]).Bind();
    GiveDevices(request, machine_of(i), allocation.nodes[i]);
  }
}

void GiveDevices(const ResourceRequest& request, const Machine& machine, NodeAllocation& part) {
  const bool said = request.layout.has_value() && request.layout->gpu_bind != GpuBind::kUnsaid;
  if (said) {
    BindGpus(*request.layout, machine, part);
  } else if (request.own_gpus && !part.gpus.empty()) {
    for (RankPlacement& rank : part.ranks) {
      rank.sees_own_gpus = true;
    }
  }
  if (machine.nics.empty()) {
    return;
  }
  const std::vector<std::uint32_t> nics = NearestNics(machine, part);
  for (std::size_t i = 0; i < nics.size(); ++i) {
    part.ranks[i].nic = nics[i] == kNowhere ? 0 : nics[i] + 1;
  }
}

}  // namespace muster::core
