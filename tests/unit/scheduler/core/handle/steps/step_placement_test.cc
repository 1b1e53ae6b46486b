#include "scheduler/core/handle/steps/step_placement.h"

#include <gtest/gtest.h>

#include "tests/unit/scheduler/core/builders.h"

namespace muster::core {
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
    absl::StatusOr<StepPlace> place = PlaceStep(world.state, *world.state.FindJob(job), spec);
    if (!place.ok()) {
      return place.status();
    }
    return place->placement;
  }
  [[nodiscard]] std::string Wait(const StepSpec& spec) const {
    return PlaceStep(world.state, *world.state.FindJob(job), spec)->waits;
  }
  void Start(const StepSpec& spec) {
    const Transition transition = world.Take(
        StartStep{absl::StrCat("s", ++steps_), job, spec, testing::TrueProgram(), world.ada});
    ASSERT_TRUE(transition.status.ok()) << transition.status;
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

StepSpec Overlapping(StepSpec spec) {
  spec.overlap = true;
  return spec;
}

TEST(StepPlacement, AStepHasItsThreadsToItself) {
  Running running({.cores = 4}, Tasks(4));
  running.Start(Step(2));
  EXPECT_EQ(running.Place(Step(2, 1))->nodes[0].cpus.ToList(), "2-3");
  EXPECT_TRUE(running.Place(Step(3))->nodes.empty());
  EXPECT_EQ(running.Wait(Step(3)), "2 of its 4 CPUs are in use by step 1.1");
  EXPECT_TRUE(running.Place(Step(0))->nodes.empty()) << "the job's own shape waits as well";
}

TEST(StepPlacement, AnOverlappingStepSharesAndIsNotInTheWay) {
  Running running({.cores = 4}, Tasks(4));
  running.Start(Overlapping(Step(2)));
  EXPECT_EQ(running.Place(Step(2))->nodes[0].cpus.ToList(), "2-3")
      << "threads that no step at all uses are preferred";
  running.Start(Step(3));
  EXPECT_EQ(running.Place(Overlapping(Step(3)))->nodes[0].cpus.ToList(), "0-2");
  EXPECT_EQ(running.Place(Overlapping(Step(0)))->nodes[0].cpus.ToList(), "0-3");
  EXPECT_EQ(running.Place(Overlapping(Step(5))).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST(StepPlacement, AStepThatSaysItsGpusHasThoseAlone) {
  ResourceRequest request = Tasks(4);
  request.gpus_per_node.count = 4;
  Running running({.cores = 4, .gpus = 4}, request);
  StepSpec two = Step(1);
  two.gpus.count = 2;
  running.Start(two);
  const Allocation next = *running.Place(two);
  ASSERT_EQ(next.nodes.size(), 1U);
  EXPECT_EQ(next.nodes[0].gpus.size(), 2U);
  running.Start(two);
  EXPECT_EQ(running.Wait(two),
            "2 of its 4 CPUs and 4 of its 4 GPUs are in use by steps 1.1 and 1.2");
  StepSpec none = Step(2);
  none.no_gpus = true;
  EXPECT_TRUE(running.Place(none)->nodes[0].gpus.empty());
  EXPECT_TRUE(running.Place(Step(1))->nodes.empty()) << "who says nothing wants all of them";
  two.gpus.count = 5;
  EXPECT_EQ(running.Place(two).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(StepPlacement, TasksOfAStepSeeTheirOwnGpusWhereTheyWereAskedForByTheTask) {
  ResourceRequest whole = Tasks(2);
  whole.gpus_per_node.count = 2;
  const Running running({.cores = 2, .gpus = 2}, whole);
  StepSpec own = Step(2);
  own.gpus_per_task.count = 1;
  EXPECT_TRUE(running.Place(own)->nodes[0].ranks[1].sees_own_gpus);
  EXPECT_FALSE(running.Place(Step(1))->nodes[0].ranks[0].sees_own_gpus) << "all of the job's";
  own.layout = RankLayout{.gpu_bind = GpuBind::kNone};
  EXPECT_FALSE(running.Place(own)->nodes[0].ranks[1].sees_own_gpus);
  ResourceRequest by_task = Tasks(2);
  by_task.gpus_per_task.count = 1;
  const Running inherited({.cores = 2, .gpus = 2}, by_task);
  EXPECT_TRUE(inherited.Place(Step(0))->nodes[0].ranks[0].sees_own_gpus);
  EXPECT_TRUE(inherited.Place(Step(1))->nodes[0].ranks[0].sees_own_gpus);
}

TEST(StepPlacement, AStepThatSaysItsMemoryHasItAlone) {
  ResourceRequest request = Tasks(4);
  request.memory_per_node = kGibibyte * 4;
  Running running({.cores = 4}, request);
  StepSpec three = Step(1);
  three.memory_per_node = kGibibyte * 3;
  running.Start(three);
  EXPECT_TRUE(running.Place(three)->nodes.empty());
  EXPECT_FALSE(running.Place(Step(1))->nodes.empty()) << "others share what the job has";
  three.memory_per_node = kGibibyte * 5;
  EXPECT_EQ(running.Place(three).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(StepPlacement, OfAWholeNodeAStepTakesWhatItsRanksRunOn) {
  ResourceRequest request = Tasks(1);
  request.exclusive = true;
  Running running({.cores = 4}, request);
  running.Start(Step(1));
  EXPECT_FALSE(running.Place(Step(1))->nodes.empty());
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

TEST(StepPlacement, AStepThatNamesItsNodesStaysThere) {
  Running running({.cores = 4}, Tasks(4));
  StepSpec named = Step(2);
  named.nodelist = {"n1"};
  EXPECT_EQ(running.Place(named)->nodes[0].cpus.ToList(), "0-1");
  named.nodelist = {"n2"};
  EXPECT_EQ(running.Place(named).status().message(), "--nodelist: n2 is not a node of job 1");
}

TEST(StepPlacement, RefusesMoreNodesThanTasksOrThanTheJobHas) {
  const Running running({.cores = 4}, Tasks(4));
  EXPECT_FALSE(running.Place(Step(1, 1, 2)).ok());
  EXPECT_FALSE(running.Place(Step(2, 1, 2)).ok());
}

}  // namespace
}  // namespace muster::core
