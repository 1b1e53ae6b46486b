#include "scheduler/core/place/placement.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "scheduler/core/place/request.h"
#include "tests/unit/scheduler/core/builders.h"

namespace muster::core {
namespace {

using testing::Asks;
using testing::Cpus;
using testing::MakeNode;
using testing::Shape;
using testing::Tasks;

// Tasks on one node only.
ResourceRequest OneNode(std::uint32_t tasks, std::uint32_t cpus_per_task = 1) {
  ResourceRequest request = Tasks(tasks, cpus_per_task);
  request.max_nodes = 1;
  return request;
}

Placed Place(const NodeSnapshot& node, const ResourceRequest& request) {
  const ResourceRequest asked = Asks(request);
  return PlaceOnNode(node, asked, asked.tasks);
}

std::string CpusOf(const Placed& placed, std::size_t rank) {
  return placed.allocation.ranks.at(rank).cpus.ToList();
}

TEST(Placement, ATaskGetsOneNumaNodeWhereOneHasRoom) {
  NodeSnapshot node = MakeNode(1, {.numa = 2, .cores = 4});
  node.taken.cpus = Cpus("0-1");  // 2 cores free in the first, 4 in the second
  const Placed placed = Place(node, OneNode(1, 3));
  EXPECT_EQ(CpusOf(placed, 0), "4-6");
  EXPECT_EQ(placed.allocation.ranks[0].mem_nodes.ToList(), "1");
}

TEST(Placement, TakesTheTightestNumaNodeThatHoldsAllTasks) {
  NodeSnapshot node = MakeNode(1, {.numa = 3, .cores = 4});
  node.taken.cpus = Cpus("4-5");  // 4, 2 and 4 cores free
  const Placed placed = Place(node, OneNode(2));
  EXPECT_EQ(placed.allocation.cpus.ToList(), "6-7");
  EXPECT_EQ(placed.allocation.mem_nodes.ToList(), "1");
}

TEST(Placement, SpreadsTasksOverNumaNodesButNoTask) {
  const NodeSnapshot node = MakeNode(1, {.numa = 2, .cores = 3});
  const Placed placed = Place(node, OneNode(2, 2));
  ASSERT_EQ(placed.tasks, 2U);
  EXPECT_EQ(CpusOf(placed, 0), "0-1");
  EXPECT_EQ(CpusOf(placed, 1), "3-4");
}

TEST(Placement, ATaskTooLargeForANumaNodeTakesSeveral) {
  const NodeSnapshot node = MakeNode(1, {.numa = 2, .cores = 2});
  const Placed placed = Place(node, OneNode(1, 3));
  EXPECT_EQ(CpusOf(placed, 0), "0-2");
  EXPECT_EQ(placed.allocation.ranks[0].mem_nodes.ToList(), "0-1");
}

TEST(Placement, UsesTheScatteredRestOfNumaNodesBeforeItGivesUp) {
  const NodeSnapshot node = MakeNode(1, {.numa = 2, .cores = 3});
  const Placed placed = Place(node, OneNode(3, 2));
  ASSERT_EQ(placed.tasks, 3U);
  EXPECT_EQ(CpusOf(placed, 2), "2,5");
}

TEST(Placement, ATaskGetsWholeCoresWithAllTheirThreads) {
  const NodeSnapshot node = MakeNode(1, {.cores = 4, .threads = 2});
  const Placed placed = Place(node, OneNode(2, 1));
  EXPECT_EQ(CpusOf(placed, 0), "0-1");
  EXPECT_EQ(CpusOf(placed, 1), "2-3");
  EXPECT_EQ(CpusOf(Place(node, OneNode(1, 3)), 0), "0-3");
}

TEST(Placement, ACoreOfWhichOneThreadIsTakenIsTaken) {
  NodeSnapshot node = MakeNode(1, {.cores = 2, .threads = 2});
  node.taken.cpus = Cpus("1");
  EXPECT_EQ(FreeCores(node), 1U);
  EXPECT_EQ(CpusOf(Place(node, OneNode(1)), 0), "2-3");
}

TEST(Placement, TasksGetTheirGpusFromTheNumaNodeOfTheirCores) {
  const NodeSnapshot node = MakeNode(1, {.numa = 2, .cores = 2, .gpus = 1});
  ResourceRequest request = OneNode(2, 2);
  request.gpus_per_task.count = 1;
  const Placed placed = Place(node, request);
  ASSERT_EQ(placed.tasks, 2U);
  EXPECT_EQ(CpusOf(placed, 0), "0-1");
  EXPECT_EQ(placed.allocation.ranks[0].gpus, std::vector<std::uint32_t>{0});
  EXPECT_EQ(CpusOf(placed, 1), "2-3");
  EXPECT_EQ(placed.allocation.ranks[1].gpus, std::vector<std::uint32_t>{1});
  EXPECT_EQ(placed.allocation.gpus, (std::vector<GpuGrant>{{0, kWholeGpu}, {1, kWholeGpu}}));
}

TEST(Placement, CoresGoWhereTheFreeGpuIs) {
  NodeSnapshot node = MakeNode(1, {.numa = 2, .cores = 4, .gpus = 2});
  node.taken.gpus[0] = kWholeGpu;
  node.taken.gpus[1] = GpuShare(1);  // a share is enough to make it unfree
  ResourceRequest request = OneNode(1, 2);
  request.gpus_per_node.count = 1;
  const Placed placed = Place(node, request);
  EXPECT_EQ(placed.allocation.mem_nodes.ToList(), "1");
  EXPECT_EQ(placed.allocation.ranks[0].gpus, std::vector<std::uint32_t>{2});
}

TEST(Placement, AGpuElsewhereIsBetterThanNone) {
  NodeSnapshot node = MakeNode(1, {.numa = 2, .cores = 2, .gpus = 1});
  node.taken.cpus = Cpus("2-3");  // the second GPU's cores
  node.taken.gpus[0] = kWholeGpu;
  ResourceRequest request = OneNode(1, 2);
  request.gpus_per_task.count = 1;
  const Placed placed = Place(node, request);
  ASSERT_EQ(placed.tasks, 1U);
  EXPECT_EQ(CpusOf(placed, 0), "0-1");
  EXPECT_EQ(placed.allocation.ranks[0].gpus, std::vector<std::uint32_t>{1});
}

TEST(Placement, RanksThatShareANodesGpusShareThemInBlocks) {
  const NodeSnapshot node = MakeNode(1, {.numa = 2, .cores = 4, .gpus = 2});
  ResourceRequest request = OneNode(8);
  request.gpus_per_node.count = 4;
  const Placed placed = Place(node, request);
  std::vector<std::uint32_t> gpus;
  for (const RankPlacement& rank : placed.allocation.ranks) {
    ASSERT_EQ(rank.gpus.size(), 1U);
    gpus.push_back(rank.gpus[0]);
    EXPECT_EQ(node.machine->gpus[rank.gpus[0]].numa, rank.mem_nodes.First()) << rank.rank;
  }
  EXPECT_EQ(gpus, (std::vector<std::uint32_t>{0, 0, 1, 1, 2, 2, 3, 3}));
}

TEST(Placement, TheTypeOfAGpuIsPartOfItsModelInAnyCase) {
  const NodeSnapshot node = MakeNode(1, {.gpus = 1});
  EXPECT_EQ(FreeGpus(node, {"a100", 1}), 1U);
  EXPECT_EQ(FreeGpus(node, {"h100", 1}), 0U);
  EXPECT_EQ(FreeGpus(node, {"", 1}), 1U);
  EXPECT_TRUE(IsOfKind(Gpu(), GpuRequest()));
  ResourceRequest request = OneNode(1);
  request.gpus_per_node = {"h100", 1};
  EXPECT_EQ(Place(node, request).tasks, 0U);
}

TEST(Placement, AGpuCountsForTheMemoryThatItIsSoldWith) {
  const GpuRequest kind = {"", 1, kGibibyte * 48};
  EXPECT_TRUE(IsOfKind("NVIDIA L40S", Bytes(46'068ULL << 20), kind));
  EXPECT_TRUE(IsOfKind("NVIDIA H100 80GB HBM3", Bytes(81'559ULL << 20), kind));
  EXPECT_FALSE(IsOfKind("NVIDIA A100-SXM4-40GB", Bytes(40'960ULL << 20), kind));
  EXPECT_FALSE(IsOfKind("a GPU that does not tell", Bytes(), kind));
  EXPECT_FALSE(IsOfKind("NVIDIA L40S", Bytes(46'068ULL << 20), {"h100", 1, kGibibyte * 48}));
}

TEST(Placement, AJobForGpusWithMuchMemoryGetsThoseOfTheNodeThatHaveIt) {
  NodeSnapshot node = MakeNode(1, {.gpus = 2});
  Machine machine = *node.machine;
  machine.gpus[0].memory = kGibibyte * 40;
  machine.gpus[1].memory = kGibibyte * 80;  // of the same name
  node.machine = std::make_shared<const Machine>(machine);
  ResourceRequest request = OneNode(1);
  request.gpus_per_node = {"", 1, kGibibyte * 80};
  const auto placement = Place(node, request);
  ASSERT_EQ(placement.tasks, 1U);
  EXPECT_EQ(placement.allocation.ranks.front().gpus, std::vector<std::uint32_t>{1});
  request.gpus_per_node.count = 2;
  EXPECT_EQ(Place(node, request).tasks, 0U);
  request.gpus_per_node.memory = kGibibyte * 40;
  EXPECT_EQ(Place(node, request).tasks, 1U);
}

TEST(Placement, AGpuThatNamesNoNumaNodeBelongsToTheOnlyOne) {
  NodeSnapshot node = MakeNode(1, {.cores = 2, .gpus = 1});
  Machine machine = *node.machine;
  machine.gpus[0].numa = kNowhere;
  node.machine = std::make_shared<const Machine>(machine);
  ResourceRequest request = OneNode(1);
  request.gpus_per_task.count = 1;
  EXPECT_EQ(Place(node, request).tasks, 1U);
}

TEST(Placement, AnExclusiveJobTakesTheWholeOfAnIdleNodeOnly) {
  NodeSnapshot node = MakeNode(1, {.numa = 2, .cores = 2, .gpus = 1});
  ResourceRequest request = OneNode(1);
  request.exclusive = true;
  request.gpus_per_node = {"A100", 1};
  const Placed placed = Place(node, request);
  EXPECT_EQ(placed.allocation.cpus, AllCpus(*node.machine));
  EXPECT_EQ(placed.allocation.memory, node.machine->memory);
  EXPECT_EQ(placed.allocation.mem_nodes.ToList(), "0-1");
  EXPECT_EQ(placed.allocation.gpus.size(), 2U);
  EXPECT_EQ(placed.allocation.ranks[0].gpus.size(), 1U);
  node.taken.memory = Bytes(1);
  EXPECT_EQ(Place(node, request).tasks, 0U);
}

TEST(Placement, OvercommittedTasksShareTheThreadsOfOne) {
  const NodeSnapshot node = MakeNode(1, {.cores = 2});
  ResourceRequest request = OneNode(5, 2);
  request.overcommit = true;
  const Placed placed = Place(node, request);
  ASSERT_EQ(placed.tasks, 5U);
  for (std::uint32_t rank = 0; rank < 5; ++rank) {
    EXPECT_EQ(CpusOf(placed, rank), "0-1");
    EXPECT_EQ(placed.allocation.ranks[rank].rank, rank);
  }
}

TEST(Placement, OvercommittedTasksStillNeedAGpuEach) {
  const NodeSnapshot node = MakeNode(1, {.cores = 2, .gpus = 2});
  ResourceRequest request = OneNode(5);
  request.overcommit = true;
  request.gpus_per_task.count = 1;
  const Placed placed = Place(node, request);
  EXPECT_EQ(placed.tasks, 2U);
  EXPECT_EQ(placed.allocation.ranks.size(), 2U);
  EXPECT_EQ(placed.allocation.ranks[1].gpus, std::vector<std::uint32_t>{1});
}

TEST(Placement, MemoryOfANodeIsThereOrIsNot) {
  NodeSnapshot node = MakeNode(1, {.memory = kGibibyte * 4});
  ResourceRequest request = OneNode(1);
  request.memory_per_node = kGibibyte * 3;
  EXPECT_EQ(Place(node, request).allocation.memory, kGibibyte * 3);
  node.taken.memory = kGibibyte * 2;
  EXPECT_EQ(Place(node, request).tasks, 0U);
}

TEST(Placement, MemoryPerCpuLimitsTheTasks) {
  NodeSnapshot node = MakeNode(1, {.cores = 4, .memory = kGibibyte * 4});
  node.taken.memory = kGibibyte;
  ResourceRequest request = OneNode(4);
  request.memory_per_cpu = kGibibyte * 2;
  const Placed placed = Place(node, request);
  EXPECT_EQ(placed.tasks, 1U);
  EXPECT_EQ(placed.allocation.memory, kGibibyte * 2);
}

TEST(Placement, AJobThatNamesNoMemoryGetsItsThreadsShareInFullOrWaits) {
  NodeSnapshot node = MakeNode(1, {.cores = 4, .memory = kGibibyte * 8});
  EXPECT_EQ(Place(node, OneNode(3)).allocation.memory, kGibibyte * 6);
  node.taken.cpus = Cpus("0");
  node.taken.memory = kGibibyte * 7;
  EXPECT_EQ(Place(node, OneNode(1)).tasks, 0U);
  node.taken.memory = kGibibyte * 5;
  EXPECT_EQ(Place(node, OneNode(3)).tasks, 1U);
}

TEST(Placement, AMachineThatDoesNotSayItsMemoryStillTakesJobs) {
  const NodeSnapshot node = MakeNode(1, {.memory = Bytes()});
  EXPECT_EQ(Place(node, OneNode(4)).tasks, 4U);
}

TEST(Placement, HugeRequestsAreCountedWithoutWrapping) {
  const NodeSnapshot node = MakeNode(1, {});
  ResourceRequest request = OneNode(65536, 65536);
  EXPECT_EQ(Place(node, request).tasks, 0U);
  request = Asks(request);
  request.memory_per_cpu = Bytes(std::uint64_t{1} << 50);
  EXPECT_EQ(MemoryOnNode(*node.machine, request, request.tasks, 1), Bytes(UINT64_MAX));
  request.gpus_per_task.count = 65536;
  EXPECT_EQ(GpusOnNode(request, request.tasks), UINT32_MAX);
}

struct Case {
  NodeSnapshot node;
  ResourceRequest request;
};

Case AnyCase() {
  const auto number = [](std::uint32_t low, std::uint32_t high) {
    return *rc::gen::inRange<std::uint32_t>(low, high + 1);
  };
  Case made;
  made.node = MakeNode(1, {.numa = number(1, 3),
                           .cores = number(1, 5),
                           .threads = number(1, 2),
                           .gpus = number(0, 2),
                           .memory = kGibibyte * number(0, 8)});
  for (const Core& core : made.node.machine->cores) {
    if (number(0, 3) == 0) {
      made.node.taken.cpus.Insert(core.cpus.First());
    }
  }
  for (GpuShare& share : made.node.taken.gpus) {
    share = number(0, 3) == 0 ? GpuShare(500) : GpuShare();
  }
  made.node.taken.memory = Bytes(made.node.machine->memory.value() / 4 * number(0, 4));
  made.request = OneNode(number(1, 9), number(1, 5));
  made.request.overcommit = number(0, 4) == 0;
  made.request.exclusive = number(0, 6) == 0;
  if (number(0, 2) == 0) {
    made.request.memory_per_cpu = kMebibyte * number(1, 3000);
  }
  (number(0, 1) == 0 ? made.request.gpus_per_task : made.request.gpus_per_node).count =
      number(0, 2);
  made.request = Asks(made.request);
  return made;
}

TEST(Placement, GrantsOnlyWhatIsFreeAndNothingTwice) {
  EXPECT_TRUE(rc::check([] {
    const Case made = AnyCase();
    const Placed placed = PlaceOnNode(made.node, made.request, made.request.tasks);
    const NodeAllocation& part = placed.allocation;
    RC_ASSERT(part.ranks.size() == placed.tasks && placed.tasks <= made.request.tasks);
    RC_ASSERT(!part.cpus.Meets(made.node.taken.cpus));
    RC_ASSERT(part.memory + made.node.taken.memory <=
              std::max(made.node.machine->memory, made.node.taken.memory));
    std::vector<std::uint32_t> given;
    for (const GpuGrant& grant : part.gpus) {
      RC_ASSERT(made.node.taken.gpus.at(grant.gpu).zero());
      given.push_back(grant.gpu);
    }
    RC_ASSERT(std::adjacent_find(given.begin(), given.end()) == given.end());
    CpuSet seen;
    for (const RankPlacement& rank : part.ranks) {
      RC_ASSERT(rank.cpus.Count() >= made.request.cpus_per_task);
      RC_ASSERT(part.cpus.Includes(rank.cpus) && part.mem_nodes.Includes(rank.mem_nodes));
      RC_ASSERT(made.request.overcommit || !seen.Meets(rank.cpus));
      RC_ASSERT(made.request.gpus_per_task.count == 0 ||
                rank.gpus.size() == made.request.gpus_per_task.count);
      seen |= rank.cpus;
    }
  }));
}

TEST(Placement, WhatHoldsManyTasksHoldsFewer) {
  EXPECT_TRUE(rc::check([] {
    const Case made = AnyCase();
    const std::uint32_t most = PlaceOnNode(made.node, made.request, made.request.tasks).tasks;
    for (std::uint32_t limit = 0; limit <= most; ++limit) {
      RC_ASSERT(PlaceOnNode(made.node, made.request, limit).tasks == limit);
    }
  }));
}

}  // namespace
}  // namespace muster::core
