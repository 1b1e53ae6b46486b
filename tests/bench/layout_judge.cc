#include "tests/bench/layout_judge.h"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "scheduler/core/handle/submit/validate.h"
#include "scheduler/core/place/gpu_links.h"
#include "scheduler/core/place/grid_numbers.h"
#include "scheduler/core/place/request.h"
#include "scheduler/core/plan/planner.h"
#include "scheduler/model/machine/network.h"

namespace muster::bench {
namespace {

constexpr std::uint32_t kNodesOfLeaf = 2;

// One rank's place.
struct Place {
  core::GridPlace grid;
  std::uint32_t gpu = 0;
  std::uint32_t core = 0;
};

std::shared_ptr<const Network> TwoToALeaf(std::uint32_t nodes) {
  auto network = std::make_shared<Network>();
  network->switches.push_back({"root", SwitchKind::kSwitch, kNowhere, 1, {}});
  for (std::uint32_t leaf = 0; leaf * kNodesOfLeaf < nodes; ++leaf) {
    network->switches.push_back({absl::StrCat("leaf", leaf + 1), SwitchKind::kSwitch, 0, 0, {}});
  }
  for (std::uint32_t node = 0; node < nodes; ++node) {
    network->nodes.push_back(
        {absl::StrCat("n", node + 1), 1 + node / kNodesOfLeaf, kNowhere, kNowhere});
  }
  return network;
}

std::optional<Allocation> PlaceOn(const std::shared_ptr<const Machine>& machine,
                                  std::uint32_t nodes, const JudgedRequest& request) {
  JobSpec spec;
  spec.request.tasks = request.ranks;
  spec.request.min_nodes = spec.request.max_nodes = nodes;
  spec.request.layout = request.layout;
  if (request.layout.grid.empty()) {
    spec.request.gpus_per_task.count = 1;
  }
  const absl::StatusOr<JobSpec> normal = core::Normalise(spec, SchedulerConfig());
  if (!normal.ok()) {
    return std::nullopt;
  }
  Snapshot snapshot;
  for (std::uint32_t i = 0; i < nodes; ++i) {
    NodeSnapshot& node = snapshot.nodes.emplace_back();
    node.id = NodeId(i + 1);
    node.name = absl::StrCat("n", i + 1);
    node.machine = machine;
    node.up = true;
    node.taken.gpus.resize(machine->gpus.size());
  }
  snapshot.network = TwoToALeaf(nodes);
  WaitingJob job;
  job.id = job.submission = JobId(1);
  job.spec = std::make_shared<const JobSpec>(*normal);
  snapshot.waiting.push_back(job);
  const Plan plan = core::MakePlan(snapshot, SchedulerConfig());
  return plan.starts.empty() ? std::nullopt : std::optional(plan.starts[0].allocation);
}

std::uint32_t SocketAt(const Machine& machine, std::uint32_t cpu) {
  const auto core = std::find_if(machine.cores.begin(), machine.cores.end(),
                                 [cpu](const Core& each) { return each.cpus.Contains(cpu); });
  return core == machine.cores.end() ? 0 : core::SocketOf(*core);
}

// By the ranks' numbers.
std::vector<Place> PlacesOf(const Machine& machine, const Allocation& allocation) {
  std::map<std::uint32_t, Place> places;
  for (const NodeAllocation& part : allocation.nodes) {
    for (const RankPlacement& rank : part.ranks) {
      const std::uint32_t node = part.node.value() - 1;
      const std::uint32_t cpu = rank.cpus.First();
      places[rank.rank] = {{node / kNodesOfLeaf, node, SocketAt(machine, cpu)},
                           rank.gpus.empty() ? 0 : rank.gpus.front(),
                           cpu};
    }
  }
  std::vector<Place> in_order;
  for (const auto& [rank, place] : places) {
    in_order.push_back(place);
  }
  return in_order;
}

using CostOf = std::function<LayoutCost(const std::vector<Place>&)>;

LayoutCost CostOfGrid(const std::vector<std::uint32_t>& grid, const std::vector<Place>& places) {
  std::vector<core::GridPlace> where;
  for (const Place& place : places) {
    where.push_back(place.grid);
  }
  std::vector<std::uint32_t> numbers(places.size());
  std::iota(numbers.begin(), numbers.end(), 0U);
  return {core::GridCost(grid, where, numbers)};
}

// Groups of one kind: ranks that differ only in one place of their number.
struct GroupKind {
  std::uint32_t stride;
  std::uint32_t size;
};

std::array<GroupKind, 4> KindsOf(const ParallelGroups& groups) {
  const std::uint32_t replica = groups.tensor * groups.context;
  return {{{1, groups.tensor},
           {groups.tensor, groups.context},
           {replica, ReplicasTogether(groups)},
           {replica * groups.data, groups.pipeline}}};
}

std::uint64_t Apart(const Place& a, const Place& b) {
  return a.grid.node == b.grid.node ? 0 : a.grid.leaf == b.grid.leaf ? 1 : 2;
}

LayoutCost CostOfGroups(const ParallelGroups& groups, const core::GpuLinkTable& links,
                        const std::vector<Place>& places) {
  LayoutCost cost;
  for (const GroupKind& kind : KindsOf(groups)) {
    std::uint64_t apart = 0;
    std::vector<std::uint64_t> worst;
    for (std::uint32_t rank = 0; kind.size > 1 && rank < places.size(); ++rank) {
      if (rank / kind.stride % kind.size != 0) {
        continue;  // its group was looked at
      }
      std::uint64_t weakest = core::kNoLink;
      for (std::uint32_t i = 0; i < kind.size; ++i) {
        const Place& a = places.at(rank + i * kind.stride);
        apart += i + 1 < kind.size ? Apart(a, places.at(rank + (i + 1) * kind.stride)) : 0;
        for (std::uint32_t k = i + 1; k < kind.size; ++k) {
          const Place& b = places.at(rank + k * kind.stride);
          weakest =
              a.grid.node == b.grid.node ? std::min(weakest, links.Quality(a.gpu, b.gpu)) : weakest;
        }
      }
      worst.push_back(core::kNoLink - weakest);
    }
    std::sort(worst.rbegin(), worst.rend());
    cost.push_back(apart);
    cost.insert(cost.end(), worst.begin(), worst.end());
  }
  return cost;
}

std::optional<LayoutCost> BestOf(const std::vector<Place>& places, const CostOf& cost_of) {
  if (places.size() > kPermutedMost) {
    return std::nullopt;
  }
  std::vector<std::size_t> order(places.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::optional<LayoutCost> best;
  do {
    std::vector<Place> numbered;
    for (const std::size_t at : order) {
      numbered.push_back(places[at]);
    }
    LayoutCost cost = cost_of(numbered);
    if (!best.has_value() || cost < *best) {
      best = std::move(cost);
    }
  } while (std::next_permutation(order.begin(), order.end()));
  return best;
}

}  // namespace

std::optional<JudgedLayout> JudgeLayout(const std::shared_ptr<const Machine>& machine,
                                        std::uint32_t nodes, const JudgedRequest& request,
                                        Numberings numberings) {
  const std::optional<Allocation> allocation = PlaceOn(machine, nodes, request);
  if (!allocation.has_value()) {
    return std::nullopt;
  }
  const core::GpuLinkTable links(*machine);
  const CostOf cost_of = [&](const std::vector<Place>& places) {
    return request.layout.grid.empty() ? CostOfGroups(request.layout.parallel, links, places)
                                       : CostOfGrid(request.layout.grid, places);
  };
  const std::vector<Place> ours = PlacesOf(*machine, *allocation);
  std::vector<Place> block = ours;
  std::sort(block.begin(), block.end(), [](const Place& a, const Place& b) {
    return std::tie(a.grid.leaf, a.grid.node, a.gpu, a.core) <
           std::tie(b.grid.leaf, b.grid.node, b.gpu, b.core);
  });
  return JudgedLayout{cost_of(ours), cost_of(block),
                      numberings == Numberings::kAll ? BestOf(block, cost_of) : std::nullopt};
}

std::vector<JudgedRequest> LayoutsOf(std::uint32_t ranks) {
  std::vector<JudgedRequest> all;
  const std::vector<std::vector<std::uint32_t>> grids = {{2, 2},    {4, 2}, {2, 2, 2}, {4, 4},
                                                         {4, 2, 2}, {8, 4}, {4, 4, 2}, {8, 8}};
  for (const std::vector<std::uint32_t>& grid : grids) {
    if (RanksOfGrid(grid) == ranks) {
      RankLayout layout;
      layout.grid = grid;
      all.push_back({absl::StrCat("--grid=", absl::StrJoin(grid, "x")), layout, ranks});
    }
  }
  struct Named {
    const char* name;
    ParallelGroups groups;
  };
  const Named groups[] = {{"tp=2", {.tensor = 2}},
                          {"tp=4", {.tensor = 4}},
                          {"tp=2,pp=2", {.tensor = 2, .pipeline = 2}},
                          {"tp=2,cp=2", {.tensor = 2, .context = 2}},
                          {"cp=2", {.context = 2}},
                          {"cp=4,pp=2", {.pipeline = 2, .context = 4}},
                          {"ep=2", {.expert = 2}},
                          {"ep=4,pp=2", {.pipeline = 2, .expert = 4}},
                          {"tp=2,ep=2", {.tensor = 2, .expert = 2}},
                          {"shard=2", {.shard = 2}},
                          {"shard=4", {.shard = 4}},
                          {"tp=2,shard=2", {.tensor = 2, .shard = 2}},
                          {"shard=8", {.shard = 8}}};
  for (const Named& named : groups) {
    ParallelGroups filled = named.groups;
    const std::uint32_t replica = filled.tensor * filled.context * filled.pipeline;
    if (ranks % replica != 0 || ranks / replica % ReplicasTogether(filled) != 0) {
      continue;
    }
    filled.data = ranks / replica;
    RankLayout layout;
    layout.parallel = filled;
    all.push_back({absl::StrCat("--parallel=", named.name), layout, ranks});
  }
  return all;
}

}  // namespace muster::bench
