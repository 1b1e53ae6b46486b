// Ranks where the job asked to have them: numbered, dealt and bound.
#include "scheduler/core/place/rank_layout.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

#include "absl/strings/str_join.h"
#include "scheduler/core/place/gpu_links.h"
#include "scheduler/core/place/request.h"
#include "tests/unit/scheduler/core/builders.h"

namespace muster::core {
namespace {

using testing::Cpus;
using testing::MakeNetwork;
using testing::MakeNode;
using testing::Shape;
using testing::Tasks;

// Two sockets (as NUMA nodes) of four cores with two threads each: threads 0-7 and 8-15.
const Shape kTwoSockets{.numa = 2, .cores = 4, .threads = 2};

// The placement of a job that waits alone for that many such nodes.
Allocation Placed(const ResourceRequest& request, const Shape& shape = kTwoSockets,
                  std::uint32_t nodes = 2, std::shared_ptr<const Network> network = nullptr) {
  Snapshot snapshot;
  for (std::uint32_t i = 1; i <= nodes; ++i) {
    snapshot.nodes.push_back(MakeNode(i, shape));
  }
  snapshot.network = std::move(network);
  WaitingJob job;
  job.id = job.submission = JobId(1);
  job.spec = std::make_shared<const JobSpec>(testing::Normal(request));
  snapshot.waiting.push_back(job);
  const Plan plan = MakePlan(snapshot, SchedulerConfig());
  return plan.starts.empty() ? Allocation() : plan.starts[0].allocation;
}

ResourceRequest OnNodes(std::uint32_t nodes, std::uint32_t tasks, RankLayout layout) {
  ResourceRequest request = Tasks(tasks, 2);
  request.min_nodes = request.max_nodes = nodes;
  request.layout = std::move(layout);
  return request;
}

// "0,2 1,3": the ranks of each node.
std::string Numbers(const Allocation& allocation) {
  std::string text;
  for (const NodeAllocation& part : allocation.nodes) {
    absl::StrAppend(&text, text.empty() ? "" : " ");
    for (const RankPlacement& rank : part.ranks) {
      absl::StrAppend(&text, &rank == part.ranks.data() ? "" : ",", rank.rank);
    }
  }
  return text;
}

// The threads of the first node's ranks: "0-1 8-9".
std::string Threads(const Allocation& allocation) {
  std::string text;
  for (const RankPlacement& rank : allocation.nodes.at(0).ranks) {
    absl::StrAppend(&text, text.empty() ? "" : " ", rank.cpus.ToList());
  }
  return text;
}

std::string ThreadsOf(RankLayout layout, std::uint32_t tasks = 4, bool exclusive = false) {
  ResourceRequest request = OnNodes(1, tasks, std::move(layout));
  request.exclusive = exclusive;
  return Threads(Placed(request, kTwoSockets, 1));
}

TEST(RankLayout, RanksAreNumberedOverTheNodesAsAsked) {
  EXPECT_EQ(Numbers(Placed(OnNodes(2, 6, {}))), "0,1,2 3,4,5");
  EXPECT_EQ(Numbers(Placed(OnNodes(2, 6, {.nodes = Dealing::kBlock}))), "0,1,2 3,4,5");
  EXPECT_EQ(Numbers(Placed(OnNodes(2, 6, {.nodes = Dealing::kCyclic}))), "0,2,4 1,3,5");
  EXPECT_EQ(Numbers(Placed(OnNodes(2, 8, {.nodes = Dealing::kPlane, .plane = 2}))),
            "0,1,4,5 2,3,6,7");
  EXPECT_EQ(Numbers(Placed(OnNodes(2, 5, {.nodes = Dealing::kCyclic}))), "0,2,4 1,3");
}

TEST(RankLayout, RanksAreDealtToSocketsAsAsked) {
  EXPECT_EQ(ThreadsOf({.sockets = Dealing::kBlock}, 6), "0-1 2-3 4-5 6-7 8-9 10-11");
  EXPECT_EQ(ThreadsOf({.sockets = Dealing::kCyclic}, 6), "0-1 8-9 2-3 10-11 4-5 6-7");
  ResourceRequest wide = Tasks(2, 8);
  wide.max_nodes = wide.min_nodes = 1;
  wide.layout = RankLayout{.sockets = Dealing::kFcyclic};
  EXPECT_EQ(Threads(Placed(wide, kTwoSockets, 1)), "0-3,8-11 4-7,12-15");
}

TEST(RankLayout, RanksAreBoundAsAsked) {
  EXPECT_EQ(ThreadsOf({.cpu_bind = CpuBind::kCores}, 2), "0-1 2-3");
  EXPECT_EQ(ThreadsOf({.cpu_bind = CpuBind::kNone}, 2), "0-3 0-3");
  EXPECT_EQ(ThreadsOf({.cpu_bind = CpuBind::kSockets}, 6), "0-7 0-7 0-7 0-7 8-11 8-11");
  EXPECT_EQ(ThreadsOf({.cpu_bind = CpuBind::kLdoms}, 6), "0-7 0-7 0-7 0-7 8-11 8-11");
  EXPECT_EQ(ThreadsOf({.cpu_bind = CpuBind::kRankLdom}, 6), "0-7 8-11 0-7 8-11 0-7 8-11");
  EXPECT_EQ(ThreadsOf({.cpu_bind = CpuBind::kMapCpu, .cpu_list = {Cpus("3"), Cpus("9")}}, 3, true),
            "3 9 3");
  EXPECT_EQ(ThreadsOf({.cpu_bind = CpuBind::kMaskCpu, .cpu_list = {Cpus("0-1,15")}}, 1, true),
            "0-1,15");
}

TEST(RankLayout, ThreadsAreAsManyAsWereAskedForOneOfEachCoreFirst) {
  ResourceRequest request = Tasks(1, 3);
  request.layout = RankLayout{.cpu_bind = CpuBind::kThreads};
  EXPECT_EQ(Threads(Placed(request, kTwoSockets, 1)), "0-2");
  EXPECT_EQ(Placed(request, kTwoSockets, 1).nodes[0].cpus, Cpus("0-3")) << "the cores are its own";
}

TEST(RankLayout, MemoryIsBoundAsAskedAndFollowsTheThreads) {
  const auto memory = [](RankLayout layout, std::uint32_t tasks) {
    ResourceRequest request = OnNodes(1, tasks, std::move(layout));
    request.exclusive = true;
    std::string text;
    const Allocation allocation = Placed(request, kTwoSockets, 1);
    for (const RankPlacement& rank : allocation.nodes.at(0).ranks) {
      absl::StrAppend(&text, text.empty() ? "" : " ", rank.mem_nodes.ToList());
    }
    return text;
  };
  EXPECT_EQ(memory({}, 2), "0 0");
  EXPECT_EQ(memory({.mem_bind = MemBind::kNone}, 2), "0-1 0-1");
  EXPECT_EQ(memory({.mem_bind = MemBind::kRank}, 2), "0 1");
  EXPECT_EQ(memory({.mem_bind = MemBind::kMapMem, .mem_list = {NumaSet::Of({1})}}, 2), "1 1");
  EXPECT_EQ(memory({.cpu_bind = CpuBind::kRankLdom}, 2), "0 1");
}

TEST(RankLayout, AMaskWithACpuThatNoNodeHasNeverFits) {
  ResourceRequest request = OnNodes(1, 1, {});
  request.exclusive = true;
  request.layout = RankLayout{.cpu_bind = CpuBind::kMapCpu, .cpu_list = {Cpus("99")}};
  Snapshot snapshot;
  snapshot.nodes = {MakeNode(1, kTwoSockets), MakeNode(2, kTwoSockets)};
  WaitingJob job;
  job.id = job.submission = JobId(1);
  job.spec = std::make_shared<const JobSpec>(testing::Normal(request));
  snapshot.waiting.push_back(job);
  const Plan plan = MakePlan(snapshot, SchedulerConfig());
  ASSERT_EQ(plan.waiting.size(), 1U);
  EXPECT_EQ(ToSentence(plan.waiting[0].reason),
            "never on this cluster: 2 nodes: 2 without CPU 99 of --cpu-bind");
}

TEST(RankLayout, NodesNeedAsManyCoresOnASocketAsWasAsked) {
  RankLayout layout;
  layout.cores_per_socket = 4;
  EXPECT_EQ(Placed(OnNodes(1, 1, layout)).nodes.size(), 1U);
  layout.cores_per_socket = 5;
  EXPECT_EQ(Placed(OnNodes(1, 1, layout)).nodes.size(), 0U);
}

std::string Refused(const ResourceRequest& request) {
  JobSpec spec;
  spec.request = request;
  const absl::StatusOr<JobSpec> normal = Normalise(spec, SchedulerConfig());
  return normal.ok() ? "" : std::string(normal.status().message());
}

TEST(RankLayout, WhatCannotBeIsRefusedInOneLine) {
  ResourceRequest request = Tasks(60);
  request.layout = RankLayout{.parallel = {8, 0, 0}};
  EXPECT_EQ(Refused(request), "--parallel: tp=8 does not divide the 60 ranks");
  request.tasks = 64;
  request.layout->parallel = {8, 3, 0};
  EXPECT_EQ(Refused(request), "--parallel: tp=8 x pp=3 do not divide the 64 ranks");
  request.layout->parallel = {8, 4, 4};
  EXPECT_EQ(Refused(request),
            "--parallel: tp=8 x pp=4 x dp=4 are 128 ranks, the job has 64: say --ntasks=128");
  request.layout->parallel = {.tensor = 8, .pipeline = 3, .data = 0, .context = 2};
  EXPECT_EQ(Refused(request), "--parallel: tp=8 x cp=2 x pp=3 do not divide the 64 ranks");
  request.layout->parallel = {.tensor = 8, .data = 0, .expert = 3};
  EXPECT_EQ(Refused(request), "--parallel: ep=3 does not divide the dp=8 replicas");
  request.tasks = 12;
  request.layout->parallel = {.data = 0, .expert = 4, .shard = 6};
  EXPECT_EQ(Refused(request), "--parallel: of ep=4 and shard=6 one must divide the other");
  request.layout->parallel = {.tensor = 1U << 31U, .data = 0, .context = 1U << 31U};
  EXPECT_EQ(Refused(request), "--parallel: more than 1048576 ranks");
  request.layout = RankLayout{.cpu_bind = CpuBind::kMapCpu, .cpu_list = {Cpus("1")}};
  EXPECT_EQ(Refused(request),
            "--cpu-bind: numbers of CPUs and memory nodes need whole nodes; add --exclusive");
}

TEST(RankLayout, GroupsSayHowManyTasksThereAre) {
  ResourceRequest request;
  request.layout = RankLayout{.parallel = {4, 2, 3}};
  EXPECT_EQ(testing::Asks(request).tasks, 24U);
  request.tasks = 16;
  request.layout->parallel = {4, 2, 0};
  EXPECT_EQ(testing::Asks(request).layout->parallel.data, 2U);
}

TEST(RankLayout, NeighboursOnAGridAreNear) {
  ResourceRequest request;
  request.layout = RankLayout{.grid = {4, 4}};
  const Allocation allocation = Placed(request, {.numa = 1, .cores = 4}, 4);
  EXPECT_EQ(Numbers(allocation), "0,1,4,5 2,3,6,7 8,9,12,13 10,11,14,15");
  EXPECT_EQ(allocation.grid, request.layout->grid);
}

TEST(RankLayout, WithOtherThanTheGridsRanksTheyAreNumberedInOrder) {
  ResourceRequest request = testing::Asks(Tasks(4));
  request.layout = RankLayout{.grid = {4, 4}};
  Allocation allocation;
  allocation.nodes.resize(2);
  allocation.nodes[0].ranks.resize(2);
  allocation.nodes[1].ranks.resize(2);
  const NodeSnapshot node = MakeNode(1, {.numa = 1, .cores = 4});
  LayOutRanks(
      request, [&node](std::size_t) -> const Machine& { return *node.machine; },
      [](std::size_t) { return 0U; }, allocation);
  EXPECT_EQ(Numbers(allocation), "0,1 2,3");
  EXPECT_TRUE(allocation.grid.empty());
}

TEST(RankLayout, AGridThatIsNotTheRanksIsRefusedInOneLine) {
  ResourceRequest request = Tasks(6);
  request.layout = RankLayout{.grid = {4, 2}};
  EXPECT_EQ(Refused(request), "--grid: 4x2 are 8 ranks, the job has 6: say --ntasks=8");
  request.tasks = 8;
  EXPECT_EQ(Refused(request), "");
  request.layout->nodes = Dealing::kCyclic;
  const std::string one =
      "--grid: numbers the ranks, as --parallel and --distribution do; give one of them";
  EXPECT_EQ(Refused(request), one);
  request.layout = RankLayout{.parallel = {2, 1, 0}, .grid = {4, 2}};
  EXPECT_EQ(Refused(request), one);
  request.layout = RankLayout{.grid = {4, 0}};
  EXPECT_EQ(Refused(request), "--grid: 1 to 8 sizes from 1 on, and at most 1048576 ranks");
  request.layout = RankLayout{.grid = {1U << 20, 1U << 20, 1U << 24}};
  EXPECT_NE(Refused(request), "");
}

// Nodes of 8 GPUs, as many ranks as GPUs, two nodes to a leaf switch.
Allocation Parallel(ParallelGroups groups, std::uint32_t nodes) {
  ResourceRequest request;
  request.layout = RankLayout{.parallel = groups};
  request.gpus_per_task.count = 1;
  return Placed(request, {.numa = 2, .cores = 8, .gpus = 4}, nodes, MakeNetwork(nodes, 2));
}

TEST(RankLayout, RanksAreNumberedTensorThenDataThenPipeline) {
  // Two replicas of two stages of four: replica 0 on the first node, replica 1 on the second.
  EXPECT_EQ(Numbers(Parallel({4, 2, 2}, 2)), "0,1,2,3,8,9,10,11 4,5,6,7,12,13,14,15");
  EXPECT_EQ(Numbers(Parallel({8, 2, 1}, 2)), "0,1,2,3,4,5,6,7 8,9,10,11,12,13,14,15");
}

TEST(RankLayout, ContextsLieBesideTensorGroupsAndBlocksOfReplicasBeforePipelines) {
  // tp=2, cp=2: four ranks to a replica, whose two stages follow one another.
  EXPECT_EQ(Numbers(Parallel({.tensor = 2, .pipeline = 2, .data = 2, .context = 2}, 2)),
            "0,1,2,3,8,9,10,11 4,5,6,7,12,13,14,15");
  // Experts of four replicas beside one another, then the other stage's.
  EXPECT_EQ(Numbers(Parallel({.tensor = 2, .pipeline = 2, .data = 4, .expert = 4}, 2)),
            "0,1,2,3,4,5,6,7 8,9,10,11,12,13,14,15");
  // A copy of the weights on each node, replicas across.
  EXPECT_EQ(Numbers(Parallel({.tensor = 1, .data = 16, .expert = 2, .shard = 8}, 2)),
            "0,1,2,3,4,5,6,7 8,9,10,11,12,13,14,15");
}

TEST(RankLayout, AShardedCopyOfTheWeightsStaysOnOneNodeThatCanHoldIt) {
  ResourceRequest request;
  request.gpus_per_task.count = 1;
  request.layout = RankLayout{.parallel = {.data = 12, .shard = 6}};
  EXPECT_EQ(Numbers(Placed(request, {.numa = 2, .cores = 8, .gpus = 4}, 2)),
            "0,1,2,3,4,5 6,7,8,9,10,11");
  request.layout->parallel.shard = 12;  // no node holds twelve
  EXPECT_EQ(Numbers(Placed(request, {.numa = 2, .cores = 8, .gpus = 4}, 2)),
            "0,1,2,3,4,5 6,7,8,9,10,11");
}

// How far apart the members of the groups of one kind are, summed over neighbours in each: nothing
// on one node, 1 below one leaf switch, else 2. `numbers` has the rank at each place.
using Distances = std::array<std::uint64_t, 4>;  // of tp, cp, blocks of replicas, pipelines
Distances DistancesOf(const ParallelGroups& groups, const std::vector<std::uint32_t>& numbers,
                      std::uint32_t on_node, std::uint32_t on_leaf) {
  std::vector<std::uint32_t> place(numbers.size());
  for (std::uint32_t i = 0; i < numbers.size(); ++i) {
    place[numbers[i]] = i;
  }
  const std::uint32_t stride_of_data = groups.tensor * groups.context;
  const std::array<std::array<std::uint32_t, 2>, 4> kinds = {
      {{1, groups.tensor},
       {groups.tensor, groups.context},
       {stride_of_data, ReplicasTogether(groups)},
       {stride_of_data * groups.data, groups.pipeline}}};
  Distances sums{};
  for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
    const auto [stride, size] = kinds[kind];
    for (std::uint32_t rank = 0; rank < numbers.size(); ++rank) {
      if (rank / stride % size + 1 < size) {
        const std::uint32_t a = place[rank];
        const std::uint32_t b = place[rank + stride];
        sums[kind] += a / on_node == b / on_node ? 0 : a / on_leaf == b / on_leaf ? 1 : 2;
      }
    }
  }
  return sums;
}

Distances OfGroups(const ParallelGroups& groups, std::uint32_t on_node, std::uint32_t on_leaf) {
  std::vector<std::uint32_t> numbers(RanksOfGroups(groups));
  for (std::uint32_t i = 0; i < numbers.size(); ++i) {
    numbers[i] = RankOfGroups(groups, i);
  }
  return DistancesOf(groups, numbers, on_node, on_leaf);
}

TEST(RankLayout, NoPermutationHasItsGroupsNearerOnSmallMachines) {
  const std::vector<ParallelGroups> all = {{.tensor = 2, .pipeline = 2, .data = 2},
                                           {.tensor = 2, .data = 2, .context = 2},
                                           {.pipeline = 2, .data = 4, .expert = 2},
                                           {.pipeline = 2, .data = 2, .context = 2},
                                           {.tensor = 2, .data = 4, .shard = 2},
                                           {.pipeline = 4, .data = 2, .expert = 2, .shard = 2},
                                           {.pipeline = 8},
                                           {.data = 8, .shard = 4}};
  for (const ParallelGroups& groups : all) {
    for (const auto& [on_node, on_leaf] : {std::pair(2U, 4U), {4U, 8U}, {2U, 8U}, {1U, 4U}}) {
      std::vector<std::uint32_t> numbers(8);
      std::iota(numbers.begin(), numbers.end(), 0U);
      Distances least = DistancesOf(groups, numbers, on_node, on_leaf);
      while (std::next_permutation(numbers.begin(), numbers.end())) {
        least = std::min(least, DistancesOf(groups, numbers, on_node, on_leaf));
      }
      EXPECT_EQ(OfGroups(groups, on_node, on_leaf), least)
          << groups.tensor << groups.context << groups.pipeline << groups.data << " on " << on_node
          << ", " << on_leaf;
    }
  }
}

TEST(RankLayout, GroupsAreEachNumberedOnceAndNoFartherApartThanInOrder) {
  EXPECT_TRUE(rc::check([] {
    ParallelGroups groups;
    groups.tensor = 1U << *rc::gen::inRange(0, 4);
    groups.context = 1U << *rc::gen::inRange(0, 3);
    groups.pipeline = *rc::gen::inRange<std::uint32_t>(1, 6);
    groups.expert = 1U << *rc::gen::inRange(0, 3);
    groups.shard = 1U << *rc::gen::inRange(0, 3);
    groups.data = ReplicasTogether(groups) * *rc::gen::inRange<std::uint32_t>(1, 5);
    std::vector<std::uint32_t> numbers(RanksOfGroups(groups));
    std::iota(numbers.begin(), numbers.end(), 0U);
    const std::vector<std::uint32_t> in_order = numbers;
    for (std::uint32_t i = 0; i < numbers.size(); ++i) {
      numbers[i] = RankOfGroups(groups, i);
    }
    const Distances ours = DistancesOf(groups, numbers, 8, 32);
    RC_ASSERT(ours <= DistancesOf(groups, in_order, 8, 32));
    std::sort(numbers.begin(), numbers.end());
    RC_ASSERT(numbers == in_order);
  }));
}

TEST(RankLayout, EveryTensorGroupStaysOnOneNode) {
  for (const ParallelGroups groups : {ParallelGroups{4, 3, 2}, {8, 1, 3}, {2, 5, 1}, {4, 1, 5}}) {
    const Allocation allocation = Parallel(groups, 4);
    std::map<std::uint32_t, std::size_t> node_of;
    for (std::size_t i = 0; i < allocation.nodes.size(); ++i) {
      for (const RankPlacement& rank : allocation.nodes[i].ranks) {
        node_of[rank.rank] = i;
      }
    }
    ASSERT_EQ(node_of.size(), groups.tensor * groups.pipeline * groups.data);
    EXPECT_EQ(node_of.at(0), 0U);
    for (const auto& [rank, node] : node_of) {
      EXPECT_EQ(node_of.at(rank - rank % groups.tensor), node) << "rank " << rank;
    }
  }
}

TEST(RankLayout, TensorGroupsTakeTheGpusThatAreJoinedBest) {
  NodeSnapshot node = MakeNode(1, {.numa = 1, .cores = 8, .gpus = 4});
  Machine machine = *node.machine;
  for (const auto& [a, b] : {std::pair{0U, 2U}, {1U, 3U}}) {
    DeviceLink link;
    link.a = a;
    link.b = b;
    link.kind = LinkKind::kNvLink;
    link.lanes = 4;
    machine.gpu_links.push_back(link);
  }
  node.machine = std::make_shared<const Machine>(machine);
  Snapshot snapshot;
  snapshot.nodes = {node};
  WaitingJob job;
  job.id = job.submission = JobId(1);
  ResourceRequest request;
  request.layout = RankLayout{.parallel = {2, 1, 2}};
  request.gpus_per_task.count = 1;
  request.max_nodes = request.min_nodes = 1;
  job.spec = std::make_shared<const JobSpec>(testing::Normal(request));
  snapshot.waiting.push_back(job);
  const Plan plan = MakePlan(snapshot, SchedulerConfig());
  ASSERT_EQ(plan.starts.size(), 1U);
  const std::vector<RankPlacement>& ranks = plan.starts[0].allocation.nodes[0].ranks;
  std::vector<std::uint32_t> gpus;
  for (const RankPlacement& rank : ranks) {
    gpus.push_back(rank.gpus.at(0));
  }
  EXPECT_EQ(gpus, std::vector<std::uint32_t>({0, 2, 1, 3}));
}

// "0,1 0,1": the GPUs of the first node's ranks.
std::string Gpus(const Allocation& allocation) {
  std::string text;
  for (const RankPlacement& rank : allocation.nodes.at(0).ranks) {
    absl::StrAppend(&text, text.empty() ? "" : " ", absl::StrJoin(rank.gpus, ","));
  }
  return text;
}

// Two ranks on two sockets of two cores and two GPUs each, with all four GPUs.
Allocation WithGpus(RankLayout layout, std::uint32_t tasks = 2) {
  ResourceRequest request = Tasks(tasks, 2);
  request.min_nodes = request.max_nodes = 1;
  request.gpus_per_node.count = 4;
  request.layout = std::move(layout);
  return Placed(request, {.numa = 2, .cores = 2, .gpus = 2}, 1);
}

TEST(RankLayout, RanksSeeTheGpusThatWereAskedForAndOnlyThose) {
  EXPECT_EQ(Gpus(WithGpus({})), "0,1 2,3");
  EXPECT_FALSE(WithGpus({}).nodes[0].ranks[0].sees_own_gpus);
  EXPECT_FALSE(WithGpus({.gpu_bind = GpuBind::kNone}).nodes[0].ranks[0].sees_own_gpus);
  const Allocation closest = WithGpus({.gpu_bind = GpuBind::kClosest});
  EXPECT_EQ(Gpus(closest), "0,1 2,3");
  EXPECT_TRUE(closest.nodes[0].ranks[1].sees_own_gpus);
  EXPECT_EQ(Gpus(WithGpus({.gpu_bind = GpuBind::kPerTask, .gpu_bind_count = 1})), "0 2");
  EXPECT_EQ(Gpus(WithGpus({.gpu_bind = GpuBind::kSingle})), "0 2");
  EXPECT_EQ(Gpus(WithGpus(
                {.gpu_bind = GpuBind::kMapGpu, .gpu_list = {GpuSet::Of({3}), GpuSet::Of({1})}})),
            "3 1");
  EXPECT_EQ(Gpus(WithGpus({.gpu_bind = GpuBind::kMaskGpu, .gpu_list = {GpuSet::Of({0, 3})}})),
            "0,3 0,3");
}

TEST(RankLayout, TasksThatAskedForTheirOwnGpusSeeThoseAloneUnlessABindingSaysMore) {
  ResourceRequest request = Tasks(2, 2);
  request.gpus_per_task.count = 2;
  request.own_gpus = true;
  const Shape shape{.numa = 2, .cores = 2, .gpus = 2};
  const Allocation own = Placed(request, shape, 1);
  EXPECT_EQ(Gpus(own), "0,1 2,3");
  EXPECT_TRUE(own.nodes[0].ranks[0].sees_own_gpus);
  EXPECT_TRUE(own.nodes[0].ranks[1].sees_own_gpus);
  request.layout = RankLayout{.gpu_bind = GpuBind::kNone};
  EXPECT_FALSE(Placed(request, shape, 1).nodes[0].ranks[0].sees_own_gpus);
  request.layout = RankLayout{.cpu_bind = CpuBind::kSockets};
  EXPECT_TRUE(Placed(request, shape, 1).nodes[0].ranks[0].sees_own_gpus);
}

TEST(RankLayout, NodesHaveAsManySocketsAndCpusAndAsMuchOfTmpAsWasAsked) {
  const auto why = [](const ResourceRequest& request) {
    Machine machine = testing::MakeMachine(kTwoSockets);
    machine.tmp = kGibibyte * 10;
    return WhyNoMachine(request, machine);
  };
  ResourceRequest request;
  request.min_cpus = 16;
  request.tmp = kGibibyte * 10;
  EXPECT_EQ(why(request), "");
  request.min_cpus = 17;
  EXPECT_EQ(why(request), "17 CPUs in all");
  request.min_cpus = 0;
  request.tmp = kGibibyte * 11;
  EXPECT_EQ(why(request), "11264 MiB of /tmp");
  request.tmp = Bytes();
  request.sockets_per_node = 3;
  EXPECT_EQ(why(request), "3 sockets");
  EXPECT_TRUE(Placed(request).nodes.empty());
}

TEST(RankLayout, ASingleGpuIsSharedByAsManyRanksAsWasSaid) {
  ResourceRequest request = Tasks(4);
  request.min_nodes = request.max_nodes = 1;
  request.gpus_per_node.count = 2;
  request.layout = RankLayout{.gpu_bind = GpuBind::kSingle, .gpu_bind_count = 2};
  EXPECT_EQ(Gpus(Placed(request, {.numa = 1, .cores = 4, .gpus = 2}, 1)), "0 0 1 1");
}

TEST(RankLayout, GpuBindsThatCannotBeAreRefusedInOneLine) {
  ResourceRequest request = Tasks(2);
  request.layout = RankLayout{.gpu_bind = GpuBind::kClosest};
  EXPECT_EQ(Refused(request),
            "--gpu-bind: the job asks for no GPUs; add --gpus-per-task or --gpus-per-node");
  request.gpus_per_task.count = 1;
  request.layout = RankLayout{.gpu_bind = GpuBind::kMapGpu, .gpu_list = {GpuSet::Of({2})}};
  EXPECT_EQ(Refused(request),
            "--gpu-bind: GPU 2, but a node has at most 2 of the job's, counted from 0");
  request.layout = RankLayout{.gpu_bind = GpuBind::kPerTask, .gpu_bind_count = 2};
  EXPECT_EQ(Refused(request), "--gpu-bind: per_task:2, but each task has 1 of its own");
}

TEST(RankLayout, EachRankHasTheNicBesideItsCores) {
  NodeSnapshot node = MakeNode(1, kTwoSockets);
  Machine machine = *node.machine;
  machine.nics = {{"mlx5_1", "", 1, true}, {"mlx5_0", "", 0, true}};
  node.machine = std::make_shared<const Machine>(machine);
  Snapshot snapshot;
  snapshot.nodes = {node};
  WaitingJob job;
  job.id = job.submission = JobId(1);
  job.spec = std::make_shared<const JobSpec>(testing::Normal(OnNodes(1, 8, {})));
  snapshot.waiting.push_back(job);
  const Plan plan = MakePlan(snapshot, SchedulerConfig());
  ASSERT_EQ(plan.starts.size(), 1U);
  const std::vector<RankPlacement>& ranks = plan.starts[0].allocation.nodes[0].ranks;
  ASSERT_EQ(ranks.size(), 8U);
  for (const RankPlacement& rank : ranks) {
    EXPECT_EQ(rank.nic, rank.mem_nodes.Contains(0) ? 2U : 1U) << "rank " << rank.rank;
  }
}

TEST(RankLayout, OneThreadOfACoreCountsWhereSoAsked) {
  ResourceRequest request = Tasks(2, 2);
  request.layout = RankLayout{};
  request.layout->threads_per_core = 1;
  const Allocation allocation = Placed(request, kTwoSockets, 1);
  EXPECT_EQ(Threads(allocation), "0,2 4,6");
  EXPECT_EQ(allocation.nodes[0].cpus, Cpus("0-7")) << "the cores are its own";
}

TEST(RankLayout, NoSocketHasMoreTasksThanWereAskedFor) {
  EXPECT_EQ(ThreadsOf({.tasks_per_socket = 1}, 2), "0-1 8-9");
  EXPECT_EQ(ThreadsOf({.tasks_per_socket = 2}, 3), "0-1 2-3 8-9");
  ResourceRequest four = Tasks(4, 2);
  four.layout = RankLayout{.tasks_per_socket = 1};
  EXPECT_EQ(Placed(four, kTwoSockets, 1).nodes.size(), 0U);
  EXPECT_EQ(Placed(four, kTwoSockets, 2).nodes.size(), 2U);
}

TEST(RankLayout, TasksHeldApartStartElsewhereWhenASocketIsFull) {
  // Node 1 is the tighter one, but only one of its sockets is free.
  Snapshot snapshot;
  snapshot.nodes = {MakeNode(1, kTwoSockets), MakeNode(2, kTwoSockets)};
  snapshot.nodes[0].taken.cpus = Cpus("0-7");
  WaitingJob job;
  job.id = job.submission = JobId(1);
  ResourceRequest request = OnNodes(1, 2, {.tasks_per_socket = 1});
  job.spec = std::make_shared<const JobSpec>(testing::Normal(request));
  snapshot.waiting.push_back(job);
  const Plan plan = MakePlan(snapshot, SchedulerConfig());
  ASSERT_EQ(plan.starts.size(), 1U);
  EXPECT_EQ(plan.starts[0].allocation.nodes[0].name, "n2");
}

}  // namespace
}  // namespace muster::core
