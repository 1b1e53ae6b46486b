#include "scheduler/core/step_placement.h"

#include <gtest/gtest.h>

#include "tests/unit/scheduler/core/builders.h"

namespace muster {
namespace {

using testing::Shape;
using testing::Tasks;
using testing::World;

// One running job on one node.
class Running {
 public:
  World world;
  JobId job;

  Running(const Shape& shape, const ResourceRequest& request) {
    world.AddNode("n1", shape);
    job = world.Submit(request);
    world.Schedule();
  }
  [[nodiscard]] absl::StatusOr<Allocation> Place(const StepSpec& spec) const {
    return PlaceStep(world.state, *world.state.FindJob(job), spec);
  }
  void Start(const StepSpec& spec) {
    const Turn turn = world.Take(
        StartStep{absl::StrCat("s", ++steps_), job, spec, testing::Command(), world.ada});
    ASSERT_TRUE(turn.status.ok()) << turn.status;
  }

 private:
  int steps_ = 0;
};

StepSpec Step(std::uint32_t tasks, std::uint32_t cpus_per_task = 0, std::uint32_t nodes = 0) {
  StepSpec spec;
  spec.tasks = tasks;
  spec.cpus_per_task = cpus_per_task;
  spec.nodes = nodes;
  return spec;
}

TEST(StepPlacement, StaysWithinTheJobsThreads) {
  const Running running({.cores = 8}, Tasks(4));
  const Allocation place = *running.Place(Step(2, 2));
  EXPECT_EQ(place.nodes[0].cpus.ToList(), "0-3");
  EXPECT_EQ(place.nodes[0].ranks.size(), 2U);
  EXPECT_EQ(running.Place(Step(5)).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(StepPlacement, PrefersThreadsThatNoOtherStepUses) {
  Running running({.cores = 4}, Tasks(4));
  running.Start(Step(2));
  EXPECT_EQ(running.Place(Step(2, 1))->nodes[0].cpus.ToList(), "2-3");
  EXPECT_EQ(running.Place(Step(3))->nodes[0].cpus.ToList(), "0-2")
      << "where there is no room beside it, it shares";
}

TEST(StepPlacement, OvercommittedRanksShareThreads) {
  Running running({.cores = 2}, Tasks(2));
  StepSpec spec = Step(8);
  spec.overcommit = true;
  EXPECT_EQ(running.Place(spec)->nodes[0].ranks.size(), 8U);
}

TEST(StepPlacement, GivesTheJobsGpusToTheRanksInBlocks) {
  ResourceRequest request = Tasks(4);
  request.gpus_per_node.count = 2;
  const Running running({.cores = 4, .gpus = 2}, request);
  const Allocation place = *running.Place(Step(4));
  std::vector<std::uint32_t> gpus;
  for (const RankPlacement& rank : place.nodes[0].ranks) {
    gpus.push_back(rank.gpus.at(0));
  }
  EXPECT_EQ(gpus, (std::vector<std::uint32_t>{0, 0, 1, 1}));
  EXPECT_EQ(running.Place(Step(1))->nodes[0].ranks[0].gpus, (std::vector<std::uint32_t>{0, 1}));
}

TEST(StepPlacement, WorksOnAMachineThatDoesNotSayItsMemory) {
  const Running running({.cores = 4, .memory = Bytes()}, Tasks(4));
  EXPECT_TRUE(running.Place(Step(2)).ok());
}

TEST(StepPlacement, RefusesMoreNodesThanTasksOrThanTheJobHas) {
  const Running running({.cores = 4}, Tasks(4));
  EXPECT_FALSE(running.Place(Step(1, 1, 2)).ok());
  EXPECT_FALSE(running.Place(Step(2, 1, 2)).ok());
}

}  // namespace
}  // namespace muster
