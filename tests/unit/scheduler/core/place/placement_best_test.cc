// What placement chooses inside a node, against an oracle that tries everything and shares no code
// with it.

#include <gtest/gtest.h>

#include <random>

#include "scheduler/core/place/placement.h"
#include "tests/unit/scheduler/core/builders.h"

namespace muster::core {
namespace {

using testing::Asks;

// A small machine in the oracle's own terms.
struct World {
  NodeSnapshot node;
  ResourceRequest request;
  std::vector<std::uint32_t> free_gpus;
  std::vector<std::uint32_t> free_cores;  // by NUMA node
};

// How good a placement is: more local tasks first, then the better weakest link.
using Worth = std::pair<std::uint32_t, std::uint64_t>;

std::uint64_t PairQuality(const Machine& machine, std::uint32_t a, std::uint32_t b) {
  for (const DeviceLink& link : machine.gpu_links) {
    if ((link.a == a && link.b == b) || (link.a == b && link.b == a)) {
      return LinkQuality(link);
    }
  }
  ADD_FAILURE() << "the machines made here say all links";
  return 0;
}

std::uint64_t WeakestOf(const Machine& machine, const std::vector<std::uint32_t>& gpus) {
  std::uint64_t weakest = UINT64_MAX;
  for (const std::uint32_t a : gpus) {
    for (const std::uint32_t b : gpus) {
      weakest = a < b ? std::min(weakest, PairQuality(machine, a, b)) : weakest;
    }
  }
  return weakest;
}

// The most of `tasks` tasks that can be local with exactly these GPUs, trying every number of tasks
// on every NUMA node. `each` GPUs a task, or `sharers` tasks a GPU.
std::uint32_t MostLocal(const World& world, const std::vector<std::uint32_t>& gpus,
                        std::uint32_t tasks, std::uint32_t each, std::uint32_t sharers,
                        std::size_t numa = 0) {
  if (numa == world.free_cores.size()) {
    return 0;
  }
  std::uint32_t here = 0;
  for (const std::uint32_t gpu : gpus) {
    here += world.node.machine->gpus[gpu].numa == numa ? 1 : 0;
  }
  std::uint32_t best = 0;
  for (std::uint32_t n = 0; n <= tasks; ++n) {
    const bool gpus_do = each > 0 ? n * each <= here : n <= here * sharers;
    if (gpus_do && n * world.request.cpus_per_task <= world.free_cores[numa]) {
      best = std::max(best, n + MostLocal(world, gpus, tasks - n, each, sharers, numa + 1));
    }
  }
  return best;
}

// The best over every set of `count` free GPUs.
Worth BestWorth(const World& world, std::uint32_t tasks, std::uint32_t count, std::uint32_t each,
                std::uint32_t sharers) {
  Worth best{0, 0};
  const std::size_t free = world.free_gpus.size();
  for (std::uint32_t mask = 0; mask < (1U << free); ++mask) {
    std::vector<std::uint32_t> gpus;
    for (std::size_t i = 0; i < free; ++i) {
      if ((mask >> i & 1U) != 0) {
        gpus.push_back(world.free_gpus[i]);
      }
    }
    if (gpus.size() == count) {
      best = std::max(best, Worth{MostLocal(world, gpus, tasks, each, sharers),
                                  WeakestOf(*world.node.machine, gpus)});
    }
  }
  return best;
}

bool IsOnOneNode(const Machine& machine, const RankPlacement& rank) {
  std::vector<std::uint32_t> nodes;
  for (const Core& core : machine.cores) {
    if (core.cpus.Meets(rank.cpus)) {
      nodes.push_back(core.numa);
    }
  }
  for (const std::uint32_t gpu : rank.gpus) {
    nodes.push_back(machine.gpus[gpu].numa);
  }
  return rank.mem_nodes.Count() == 1 && rank.mem_nodes.Contains(nodes.front()) &&
         std::all_of(nodes.begin(), nodes.end(),
                     [&nodes](std::uint32_t node) { return node == nodes.front(); });
}

Worth WorthOf(const Machine& machine, const NodeAllocation& part) {
  std::uint32_t local = 0;
  for (const RankPlacement& rank : part.ranks) {
    local += IsOnOneNode(machine, rank) ? 1 : 0;
  }
  std::vector<std::uint32_t> gpus;
  for (const GpuGrant& grant : part.gpus) {
    gpus.push_back(grant.gpu);
  }
  return {local, WeakestOf(machine, gpus)};
}

class Maker {
 public:
  explicit Maker(std::uint64_t seed) : random_(seed) {}

  World Make() {
    World world;
    const std::uint32_t numa = Number(1, 4);
    Machine machine = testing::MakeMachine({.numa = numa, .cores = Number(1, 16 / numa)});
    const std::uint32_t gpus = Number(1, 8);
    // Uniform, islands, or anything: what real machines and broken tables have.
    const std::uint32_t pattern = Number(0, 2);
    for (std::uint32_t g = 0; g < gpus; ++g) {
      Gpu gpu;
      gpu.os_index = g;
      gpu.uuid = absl::StrCat("GPU-", g);
      gpu.numa = pattern == 2 ? Number(0, numa - 1) : g * numa / gpus;
      machine.gpus.push_back(gpu);
    }
    for (std::uint32_t a = 0; a < gpus; ++a) {
      for (std::uint32_t b = a + 1; b < gpus; ++b) {
        machine.gpu_links.push_back(Link(machine, a, b, pattern));
      }
    }
    world.node.id = NodeId(1);
    world.node.name = "n1";
    world.node.up = true;
    world.node.taken.gpus.resize(gpus);
    world.free_cores.resize(numa);
    for (const Core& core : machine.cores) {
      if (Number(0, 3) == 0) {
        world.node.taken.cpus |= core.cpus;
      } else {
        ++world.free_cores[core.numa];
      }
    }
    for (std::uint32_t g = 0; g < gpus; ++g) {
      if (Number(0, 3) == 0) {
        world.node.taken.gpus[g] = kWholeGpu;
      } else {
        world.free_gpus.push_back(g);
      }
    }
    world.node.machine = std::make_shared<const Machine>(std::move(machine));
    world.request.tasks = Number(1, 6);
    world.request.cpus_per_task = Number(1, 4);
    world.request.max_nodes = 1;
    world.request.memory_per_node = Bytes(1);
    return world;
  }

  std::uint32_t Number(std::uint32_t low, std::uint32_t high) {
    return low + static_cast<std::uint32_t>(random_() % (high - low + 1));
  }

 private:
  DeviceLink Link(const Machine& machine, std::uint32_t a, std::uint32_t b, std::uint32_t pattern) {
    DeviceLink link{a, b, LinkKind::kSystem, 0, 0};
    if (pattern == 0) {  // pairs on NVLink
      link.kind = a / 2 == b / 2                                 ? LinkKind::kNvLink
                  : machine.gpus[a].numa == machine.gpus[b].numa ? LinkKind::kNode
                                                                 : LinkKind::kSystem;
    } else {
      link.kind = static_cast<LinkKind>(Number(1, 6));
    }
    if (link.kind == LinkKind::kNvLink) {
      link.lanes = Number(1, 3);
      link.bandwidth = link.lanes * 25'000;
    }
    return link;
  }

  std::mt19937_64 random_;
};

std::string Describe(const World& world, const NodeAllocation& part) {
  std::string text =
      absl::StrCat("tasks ", world.request.tasks, " cpus ", world.request.cpus_per_task,
                   " per task ", world.request.gpus_per_task.count, " per node ",
                   world.request.gpus_per_node.count, "\nfree cores:");
  for (const std::uint32_t cores : world.free_cores) {
    absl::StrAppend(&text, " ", cores);
  }
  for (const std::uint32_t gpu : world.free_gpus) {
    absl::StrAppend(&text, "\nGPU ", gpu, " on ", world.node.machine->gpus[gpu].numa);
  }
  for (const DeviceLink& link : world.node.machine->gpu_links) {
    absl::StrAppend(&text, "\n", link.a, "-", link.b, " ", Name(link.kind), link.lanes);
  }
  for (const RankPlacement& rank : part.ranks) {
    absl::StrAppend(&text, "\nrank ", rank.rank, " cpus ", rank.cpus.ToList(), " gpus");
    for (const std::uint32_t gpu : rank.gpus) {
      absl::StrAppend(&text, " ", gpu);
    }
  }
  return text;
}

constexpr int kPairs = 12'000;

TEST(PlacementBest, NoChoiceOfGpusPerTaskIsBetter) {
  Maker maker(20260314);
  int placed_pairs = 0;
  for (int drawn = 0; placed_pairs < kPairs && drawn < 10 * kPairs; ++drawn) {
    World world = maker.Make();
    world.request.gpus_per_task.count = maker.Number(1, 3);
    const ResourceRequest request = Asks(world.request);
    const Placed placed = PlaceOnNode(world.node, request, request.tasks);
    if (placed.tasks == 0) {
      continue;
    }
    ++placed_pairs;
    const std::uint32_t each = request.gpus_per_task.count;
    const Worth best = BestWorth(world, placed.tasks, placed.tasks * each, each, 0);
    const Worth its = WorthOf(*world.node.machine, placed.allocation);
    ASSERT_EQ(its, best) << Describe(world, placed.allocation);
  }
  EXPECT_EQ(placed_pairs, kPairs);
}

TEST(PlacementBest, NoChoiceOfGpusPerNodeIsBetter) {
  Maker maker(20260315);
  int placed_pairs = 0;
  for (int drawn = 0; placed_pairs < kPairs && drawn < 20 * kPairs; ++drawn) {
    World world = maker.Make();
    world.request.gpus_per_node.count = maker.Number(1, 6);
    const ResourceRequest request = Asks(world.request);
    const Placed placed = PlaceOnNode(world.node, request, request.tasks);
    const std::uint32_t gpus = request.gpus_per_node.count;
    const bool even = placed.tasks > 0 && (gpus % placed.tasks == 0 || placed.tasks % gpus == 0);
    if (!even) {
      continue;
    }
    ++placed_pairs;
    const bool own = gpus >= placed.tasks;
    const Worth best = BestWorth(world, placed.tasks, gpus, own ? gpus / placed.tasks : 0,
                                 own ? 0 : placed.tasks / gpus);
    const Worth its = WorthOf(*world.node.machine, placed.allocation);
    ASSERT_EQ(its, best) << Describe(world, placed.allocation);
  }
  EXPECT_EQ(placed_pairs, kPairs);
}

// Without GPUs: as many tasks on one NUMA node each as any choice allows.
TEST(PlacementBest, NoChoiceOfCoresIsBetter) {
  Maker maker(20260316);
  int placed_pairs = 0;
  for (int drawn = 0; placed_pairs < kPairs && drawn < 10 * kPairs; ++drawn) {
    const World world = maker.Make();
    const ResourceRequest request = Asks(world.request);
    const Placed placed = PlaceOnNode(world.node, request, request.tasks);
    if (placed.tasks == 0) {
      continue;
    }
    ++placed_pairs;
    std::uint32_t most = 0;
    for (const std::uint32_t cores : world.free_cores) {
      most += cores / request.cpus_per_task;
    }
    ASSERT_EQ(WorthOf(*world.node.machine, placed.allocation).first, std::min(most, placed.tasks))
        << Describe(world, placed.allocation);
  }
  EXPECT_EQ(placed_pairs, kPairs);
}

TEST(PlacementBest, ASingleGpuBreaksUpThePairThatIsBrokenAlready) {
  NodeSnapshot node = testing::MakeNode(1, {.numa = 1, .cores = 4, .gpus = 4});
  Machine machine = *node.machine;
  machine.gpu_links = {
      {0, 1, LinkKind::kNvLink, 4, 100'000}, {0, 2, LinkKind::kNode, 0, 0},
      {0, 3, LinkKind::kNode, 0, 0},         {1, 2, LinkKind::kNode, 0, 0},
      {1, 3, LinkKind::kNode, 0, 0},         {2, 3, LinkKind::kNvLink, 4, 100'000}};
  node.machine = std::make_shared<const Machine>(machine);
  node.taken.gpus[3] = kWholeGpu;
  ResourceRequest request;
  request.tasks = 1;
  request.max_nodes = 1;
  request.gpus_per_task.count = 1;
  const Placed placed = PlaceOnNode(node, Asks(request), 1);
  ASSERT_EQ(placed.tasks, 1U);
  EXPECT_EQ(placed.allocation.ranks[0].gpus, std::vector<std::uint32_t>{2});
}

}  // namespace
}  // namespace muster::core
