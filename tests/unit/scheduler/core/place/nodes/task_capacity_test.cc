#include "scheduler/core/place/nodes/task_capacity.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "scheduler/core/place/placement.h"
#include "tests/unit/scheduler/core/builders.h"

namespace muster::core {
namespace {

using testing::MakeNode;
using testing::Tasks;

std::uint32_t RoomOn(const NodeSnapshot& node, const ResourceRequest& request,
                     std::uint32_t limit) {
  const NodeCapacity capacity = CapacityOf(*node.machine);
  return RoomFor(FreeNow(node, capacity), capacity, ScaleOf(capacity, request), limit);
}

TEST(NodeRoom, AMachineWithTwoModelsCountsThemApart) {
  NodeSnapshot node = MakeNode(1, {.cores = 8, .gpus = 4});
  Machine machine = *node.machine;
  machine.gpus[3].model = "NVIDIA H100";
  node.machine = std::make_shared<const Machine>(machine);
  ResourceRequest request = Tasks(4);
  request.gpus_per_task = {"h100", 1};
  EXPECT_EQ(RoomOn(node, request, 4), 1U);
  request.gpus_per_task = {"a100", 1};
  EXPECT_EQ(RoomOn(node, request, 4), 3U);
  request.gpus_per_task = {"", 1};
  EXPECT_EQ(RoomOn(node, request, 4), 4U);
}

TEST(NodeRoom, ABootThatIsLateIsTakenToLastAsLongAgain) {
  NodeSnapshot node = MakeNode(1, {});
  node.ready = testing::At(100);
  EXPECT_EQ(ReadyAt(node, testing::At(40)), testing::At(100));
  EXPECT_EQ(ReadyAt(node, testing::At(100)), testing::At(101)) << "later than now";
  EXPECT_EQ(ReadyAt(node, testing::At(130)), testing::At(160));
}

TEST(NodeRoom, GpusOfOneNameAndDifferentMemoryAreCountedApart) {
  Machine machine = testing::MakeMachine({.cores = 8, .gpus = 3});
  machine.gpus[0].memory = machine.gpus[1].memory = kGibibyte * 16;
  machine.gpus[2].memory = kGibibyte * 32;
  const NodeCapacity capacity = CapacityOf(machine);
  EXPECT_NE(GpuModelOf(capacity, machine, 0), GpuModelOf(capacity, machine, 2));
  ResourceRequest request = testing::Normal(testing::Tasks(3)).request;
  request.gpus_per_task = {"", 1, kGibibyte * 32};
  EXPECT_EQ(RoomFor(capacity.all, capacity, ScaleOf(capacity, request), 3), 1U);
  request.gpus_per_task.memory = kGibibyte * 16;
  EXPECT_EQ(RoomFor(capacity.all, capacity, ScaleOf(capacity, request), 3), 3U);
}

TEST(NodeRoom, AMachineThatCameBackSmallerHasNothingFreeAndNeverMoreThanItHas) {
  NodeSnapshot node = MakeNode(1, {.cores = 2, .gpus = 1});
  node.taken.cpus = testing::Cpus("0-7");
  node.holdings = {Holding{JobId(1),
                           testing::At(100),
                           testing::Cpus("0-7"),
                           kGibibyte,
                           {{0, kWholeGpu}, {3, kWholeGpu}}}};
  const NodeCapacity capacity = CapacityOf(*node.machine);
  EXPECT_EQ(FreeNow(node, capacity).cores, 0U);
  const NodeTimeline timeline = TimelineOf(node, capacity, testing::At(0));
  EXPECT_EQ(timeline.Least(testing::At(100), testing::At(101)).cores, 2U);
  EXPECT_EQ(timeline.Least(testing::At(100), testing::At(101)).gpus[0], 1U);
}

// The counting twin never disagrees with the one that places.
RC_GTEST_PROP(NodeRoomProperty, PlacesAsManyTasksAsItCounts, ()) {
  testing::Shape shape{.numa = *rc::gen::inRange(1U, 3U),
                       .cores = *rc::gen::inRange(1U, 5U),
                       .threads = *rc::gen::inRange(1U, 3U),
                       .gpus = *rc::gen::inRange(0U, 3U)};
  NodeSnapshot node = MakeNode(1, shape);
  for (const Core& core : node.machine->cores) {
    if (*rc::gen::inRange(0, 3) == 0) {
      node.taken.cpus |= core.cpus;
    }
  }
  for (GpuShare& gpu : node.taken.gpus) {
    gpu = *rc::gen::inRange(0, 3) == 0 ? kWholeGpu : GpuShare();
  }
  node.taken.memory = kGibibyte * *rc::gen::inRange<std::uint64_t>(0, 9);
  ResourceRequest request = Tasks(*rc::gen::inRange(1U, 9U), *rc::gen::inRange(1U, 4U));
  request.exclusive = *rc::gen::inRange(0, 6) == 0;
  request.overcommit = *rc::gen::inRange(0, 6) == 0;
  switch (*rc::gen::inRange(0, 4)) {
    case 0:
      request.memory_per_node = kGibibyte * *rc::gen::inRange<std::uint64_t>(1, 9);
      break;
    case 1:
      request.memory_per_cpu = kGibibyte * *rc::gen::inRange<std::uint64_t>(1, 4);
      break;
    default:
      break;
  }
  switch (*rc::gen::inRange(0, 4)) {
    case 0:
      request.gpus_per_node.count = *rc::gen::inRange(1U, 4U);
      break;
    case 1:
      request.gpus_per_task.count = *rc::gen::inRange(1U, 3U);
      break;
    default:
      break;
  }
  RC_ASSERT(RoomOn(node, request, request.tasks) ==
            PlaceOnNode(node, request, request.tasks).tasks);
}

}  // namespace
}  // namespace muster::core
