// What a placement's collectives cost, and where a scheduler without topology would put the job.

#include "scheduler/core/place/worth/placement_cost.h"

#include <gtest/gtest.h>

#include "scheduler/core/handle/submit/validate.h"
#include "scheduler/core/place/nodes/block_placement.h"
#include "scheduler/core/place/nodes/node_selection.h"

namespace muster::core {
namespace {

constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;

// Two NUMA nodes with `cores` cores each, core i on node i % 2, and GPUs, the first half on the
// first node.
Machine TwoSockets(std::uint32_t cores, std::uint32_t gpus) {
  Machine machine;
  machine.packages.resize(2);
  machine.numa_nodes.resize(2);
  machine.numa_nodes[1].os_index = 1;
  for (NumaNode& node : machine.numa_nodes) {
    node.memory = Bytes(8 * kGiB);
  }
  machine.memory = Bytes(16 * kGiB);
  for (std::uint32_t i = 0; i < 2 * cores; ++i) {
    machine.cores.push_back({i, CpuSet::Of({i}), i % 2, kNowhere, i % 2});
    machine.numa_nodes[i % 2].cpus.Insert(i);
  }
  for (std::uint32_t i = 0; i < gpus; ++i) {
    Gpu gpu;
    gpu.os_index = i;
    gpu.numa = i < gpus / 2 ? 0 : 1;
    machine.gpus.push_back(gpu);
  }
  return machine;
}

void AddNvLink(Machine& machine, std::uint32_t a, std::uint32_t b, std::uint32_t lanes) {
  machine.gpu_links.push_back({a, b, LinkKind::kNvLink, lanes, lanes * std::uint64_t{25'000}});
}

NodeSnapshot NodeOf(std::uint32_t id, const std::string& name, const Machine& machine) {
  NodeSnapshot node;
  node.id = NodeId(id);
  node.name = name;
  node.machine = std::make_shared<const Machine>(machine);
  node.up = true;
  node.taken.gpus.resize(machine.gpus.size());
  return node;
}

ResourceRequest Request(std::uint32_t tasks, std::uint32_t gpus_per_task) {
  JobSpec spec;
  spec.request.tasks = tasks;
  spec.request.gpus_per_task.count = gpus_per_task;
  return Normalise(spec, SchedulerConfig())->request;
}

std::vector<PlacedPart> PartsOf(const std::vector<NodeSnapshot>& nodes,
                                const Allocation& allocation) {
  std::vector<PlacedPart> parts;
  for (const NodeAllocation& part : allocation.nodes) {
    parts.push_back({&part, nodes[part.node.value() - 1].machine.get()});
  }
  return parts;
}

// Rank i with GPU i of the machine.
NodeAllocation WithGpus(const std::string& name, const std::vector<std::uint32_t>& gpus) {
  NodeAllocation part;
  part.node = NodeId(1);
  part.name = name;
  for (const std::uint32_t gpu : gpus) {
    part.gpus.push_back({gpu, kWholeGpu});
    part.ranks.push_back(
        {static_cast<std::uint32_t>(part.ranks.size()), CpuSet::Of({0}), {}, {gpu}});
  }
  return part;
}

TEST(PlacementCost, ADirectNvLinkCountsItsLanesToTheJobsGpus) {
  Machine machine = TwoSockets(4, 4);
  AddNvLink(machine, 0, 1, 2);
  AddNvLink(machine, 0, 2, 1);
  AddNvLink(machine, 1, 3, 1);
  AddNvLink(machine, 2, 3, 2);
  const NodeAllocation pair = WithGpus("a", {0, 1});
  const std::vector<PlacementLevel> levels = LevelsOf({{&pair, &machine}}, nullptr);
  ASSERT_EQ(levels.size(), 1U);
  EXPECT_EQ(levels[0].name, "NVLink");
  EXPECT_EQ(levels[0].group_sizes, std::vector<std::uint32_t>{2});
  EXPECT_DOUBLE_EQ(levels[0].link.bytes_per_second, 2 * 20e9);
  EXPECT_FALSE(levels[0].assumed);
  const NodeAllocation all = WithGpus("a", {0, 1, 2, 3});
  EXPECT_DOUBLE_EQ(LevelsOf({{&all, &machine}}, nullptr)[0].link.bytes_per_second, 3 * 20e9);
}

TEST(PlacementCost, AnNvSwitchGivesEachPairAllLanes) {
  Machine machine = TwoSockets(4, 4);
  for (std::uint32_t a = 0; a < 4; ++a) {
    for (std::uint32_t b = a + 1; b < 4; ++b) {
      AddNvLink(machine, a, b, 18);
    }
  }
  const NodeAllocation all = WithGpus("a", {0, 1, 2, 3});
  const std::vector<PlacementLevel> levels = LevelsOf({{&all, &machine}}, nullptr);
  ASSERT_EQ(levels.size(), 1U);
  EXPECT_DOUBLE_EQ(levels[0].link.bytes_per_second, 360e9);
  // 2 (N-1)/N M/B, and 2 (N-1) latencies.
  const std::optional<CollectiveCost> cost =
      PredictPlaced(levels, Collective::kAllReduce, Bytes(kGiB));
  ASSERT_TRUE(cost.has_value());
  EXPECT_NEAR(cost->seconds, 1.5 * static_cast<double>(kGiB) / 360e9 + 6 * 0.6e-6, 1e-12);
}

TEST(PlacementCost, PairsAcrossSocketsAreTwoLevelsAndShareTheInterconnect) {
  Machine machine = TwoSockets(4, 4);
  AddNvLink(machine, 0, 1, 4);
  AddNvLink(machine, 2, 3, 4);
  const NodeAllocation all = WithGpus("a", {0, 1, 2, 3});
  const std::vector<PlacementLevel> levels = LevelsOf({{&all, &machine}}, nullptr);
  ASSERT_EQ(levels.size(), 2U);
  EXPECT_EQ(levels[0].group_sizes, (std::vector<std::uint32_t>{2, 2}));
  EXPECT_EQ(levels[1].name, "processor interconnect");
  EXPECT_EQ(levels[1].group_sizes, std::vector<std::uint32_t>{2});
  EXPECT_DOUBLE_EQ(levels[1].shared_bandwidth, kSystemLink.bytes_per_second / 2);
  EXPECT_TRUE(levels[1].assumed);
}

TEST(PlacementCost, TheNetworkIsTakenSwitchBySwitchAndSharedByANodesMembers) {
  const Machine machine = TwoSockets(2, 2);
  Network network;
  network.switches = {{"spine", SwitchKind::kSwitch, kNowhere, 1, {100'000, 1000}},
                      {"leaf1", SwitchKind::kSwitch, 0, 0, {50'000, 500}},
                      {"leaf2", SwitchKind::kSwitch, 0, 0, {50'000, 500}}};
  network.nodes = {{"a", 1}, {"b", 1}, {"c", 2}, {"d", 2}};
  std::vector<NodeAllocation> on;
  for (const char* name : {"a", "b", "c"}) {
    on.push_back(WithGpus(name, {0, 1}));
  }
  const std::vector<PlacementLevel> one =
      LevelsOf({{&on[0], &machine}, {&on[1], &machine}}, &network);
  ASSERT_EQ(one.size(), 2U);
  EXPECT_EQ(one[1].name, "leaf1");
  EXPECT_DOUBLE_EQ(one[1].link.bytes_per_second, 50e9);
  EXPECT_DOUBLE_EQ(one[1].shared_bandwidth, 25e9);
  EXPECT_NEAR(one[1].link.alpha_s, kNetworkLink.alpha_s + 1e-6, 1e-12);
  const std::vector<PlacementLevel> two =
      LevelsOf({{&on[0], &machine}, {&on[1], &machine}, {&on[2], &machine}}, &network);
  ASSERT_EQ(two.size(), 3U);
  EXPECT_EQ(two[1].group_sizes, (std::vector<std::uint32_t>{2, 1}));
  EXPECT_EQ(two[2].name, "spine");
  EXPECT_DOUBLE_EQ(two[2].shared_bandwidth, 25e9);
  EXPECT_NEAR(two[2].link.alpha_s, kNetworkLink.alpha_s + 3e-6, 1e-12);
  // Nobody knows the way to a node that the network does not name.
  const NodeAllocation stranger = WithGpus("x", {0});
  const std::vector<PlacementLevel> unknown =
      LevelsOf({{&on[0], &machine}, {&stranger, &machine}}, &network);
  EXPECT_EQ(unknown.back().name, "network");
  EXPECT_TRUE(unknown.back().assumed);
}

TEST(PlacementCost, AnNvLinkDomainComesBeforeTheSwitches) {
  const Machine machine = TwoSockets(2, 2);
  Network network;
  network.nvlink_domains = {{"rack", {900'000, 0}}};
  network.switches = {{"leaf", SwitchKind::kSwitch, kNowhere, 0, {50'000, 0}}};
  network.nodes = {{"a", 0, kNowhere, 0}, {"b", 0, kNowhere, 0}};
  const NodeAllocation a = WithGpus("a", {0, 1});
  const NodeAllocation b = WithGpus("b", {0, 1});
  const std::vector<PlacementLevel> levels = LevelsOf({{&a, &machine}, {&b, &machine}}, &network);
  ASSERT_EQ(levels.size(), 2U);
  EXPECT_EQ(levels[1].name, "NVLink domain");
  EXPECT_DOUBLE_EQ(levels[1].link.bytes_per_second, 720e9);
}

TEST(PlacementCost, OneMemberSendsNothing) {
  const Machine machine = TwoSockets(2, 1);
  const NodeAllocation one = WithGpus("a", {0});
  EXPECT_TRUE(LevelsOf({{&one, &machine}}, nullptr).empty());
  EXPECT_FALSE(PredictPlaced({}, Collective::kAllReduce, Bytes(kGiB)).has_value());
}

TEST(PlacementCost, AnIslandThatBlocksBreakUpIsFasterWhole) {
  Machine machine = TwoSockets(4, 4);
  AddNvLink(machine, 0, 1, 4);
  AddNvLink(machine, 2, 3, 4);
  std::vector<NodeSnapshot> nodes = {NodeOf(1, "a", machine)};
  nodes[0].taken.gpus[0] = kWholeGpu;
  const ResourceRequest request = Request(2, 1);
  const auto chosen = PlaceJob(nodes, request, ClusterView::kAsIs);
  const auto blocks = PlaceInBlocks(nodes, request);
  ASSERT_TRUE(chosen.has_value() && blocks.has_value());
  const auto ours = PredictPlaced(LevelsOf(PartsOf(nodes, *chosen), nullptr),
                                  Collective::kAllReduce, Bytes(kGiB));
  const auto theirs = PredictPlaced(LevelsOf(PartsOf(nodes, *blocks), nullptr),
                                    Collective::kAllReduce, Bytes(kGiB));
  ASSERT_TRUE(ours.has_value() && theirs.has_value());
  EXPECT_NEAR(ours->seconds, static_cast<double>(kGiB) / 80e9, 1e-5);
  EXPECT_NEAR(theirs->seconds, static_cast<double>(kGiB) / 8e9, 1e-5);
}

TEST(BlockPlacement, FillsNodesInTheOrderOfTheirNames) {
  const Machine machine = TwoSockets(2, 4);
  std::vector<NodeSnapshot> nodes = {NodeOf(1, "n10", machine), NodeOf(2, "n9", machine),
                                     NodeOf(3, "n1", machine)};
  nodes[2].taken.cpus.Insert(0);
  nodes[2].taken.gpus[0] = kWholeGpu;
  const auto placed = PlaceInBlocks(nodes, Request(6, 1));
  ASSERT_TRUE(placed.has_value());
  ASSERT_EQ(placed->nodes.size(), 2U);
  EXPECT_EQ(placed->nodes[0].name, "n1");
  EXPECT_EQ(placed->nodes[1].name, "n9");
  ASSERT_EQ(placed->nodes[0].ranks.size(), 3U);
  // The first free core and GPU each, whatever they are near.
  EXPECT_EQ(placed->nodes[0].ranks[0].cpus, CpuSet::Of({1}));
  EXPECT_EQ(placed->nodes[0].ranks[0].gpus, std::vector<std::uint32_t>{1});
  EXPECT_EQ(placed->nodes[0].ranks[1].cpus, CpuSet::Of({2}));
  EXPECT_EQ(placed->nodes[1].ranks[2].rank, 5U);
}

TEST(BlockPlacement, GivesEveryAskedNodeATask) {
  const Machine machine = TwoSockets(2, 0);
  const std::vector<NodeSnapshot> nodes = {NodeOf(1, "a", machine), NodeOf(2, "b", machine)};
  ResourceRequest request = Request(4, 0);
  request.min_nodes = 2;
  const auto placed = PlaceInBlocks(nodes, request);
  ASSERT_TRUE(placed.has_value());
  ASSERT_EQ(placed->nodes.size(), 2U);
  EXPECT_EQ(placed->nodes[0].ranks.size(), 3U);
  request.tasks = 9;
  EXPECT_FALSE(PlaceInBlocks(nodes, request).has_value());
}

}  // namespace
}  // namespace muster::core
