#include "scheduler/core/state/tables/alternatives.h"

#include <gtest/gtest.h>

#include "tests/unit/scheduler/core/builders.h"

namespace muster::core {
namespace {

using testing::Tasks;
using testing::World;

ResourceRequest Gpus(const std::string& type, std::uint32_t count) {
  ResourceRequest request = Tasks(1);
  request.gpus = {type, count};
  return request;
}

class AlternativesTest : public ::testing::Test {
 protected:
  // Four H100 or, for longer, eight A100.
  JobId Either() {
    JobSpec spec = world_.Spec(Gpus("h100", 4));
    spec.time_limit = std::chrono::hours(4);
    spec.alternatives = {{spec.request, spec.time_limit}, {Gpus("a100", 8), std::chrono::hours(8)}};
    return world_.Submit(spec);
  }
  const JobSpec& SpecOf(JobId job) const { return *world_.state.FindJob(job)->spec; }
  std::string NodeOf(JobId job) const {
    const Job& found = *world_.state.FindJob(job);
    return found.attempt.has_value() ? found.attempt->allocation.nodes[0].name : "";
  }
  void AddNodes() {
    world_.AddNode("h", {.gpus = 4, .gpu_model = "NVIDIA H100"});
    world_.AddNode("a", {.gpus = 8, .gpu_model = "NVIDIA A100"});
  }
  World world_;
};

TEST_F(AlternativesTest, TheFirstIsTakenWhereBothFit) {
  AddNodes();
  const JobId job = Either();
  world_.Schedule();
  EXPECT_EQ(NodeOf(job), "h");
  EXPECT_EQ(SpecOf(job).time_limit, std::chrono::hours(4));
}

TEST_F(AlternativesTest, TheOtherIsTakenWhereTheFirstWouldWait) {
  AddNodes();
  Either();
  const JobId job = Either();
  world_.Schedule();
  EXPECT_EQ(NodeOf(job), "a");
  EXPECT_EQ(SpecOf(job).time_limit, std::chrono::hours(8));
  EXPECT_EQ(SpecOf(job).request.gpus_per_task.type, "a100");
}

TEST_F(AlternativesTest, AJobThatRunsAgainMayChooseAgain) {
  AddNodes();
  const JobId first = Either();
  const JobId second = Either();
  world_.Schedule();
  ASSERT_EQ(NodeOf(second), "a");
  const NodeId node = world_.state.FindJob(second)->attempt->allocation.nodes[0].node;
  world_.TellStarted(node, second);
  world_.Take(RequeueJob{second, std::nullopt, world_.ada});
  world_.TellEnded(node, second, 2);
  EXPECT_EQ(SpecOf(second).request.gpus_per_task.type, "h100");
  world_.TellStarted(world_.state.FindJob(first)->attempt->allocation.nodes[0].node, first);
  world_.TellEnded(world_.state.FindJob(first)->attempt->allocation.nodes[0].node, first, 2);
  world_.Schedule();
  EXPECT_EQ(NodeOf(second), "h");
}

TEST_F(AlternativesTest, OneThatCanNeverStartKeepsNoneOfTheOthersWaiting) {
  world_.AddNode("a", {.gpus = 8, .gpu_model = "NVIDIA A100"});
  const JobId job = Either();
  world_.Schedule();
  EXPECT_EQ(NodeOf(job), "a");
}

TEST_F(AlternativesTest, NodesFromMinimumToMaximumStartAtTheMostThatFit) {
  for (const char* name : {"n1", "n2", "n3", "n4", "n5"}) {
    world_.AddNode(name);
  }
  ResourceRequest request;
  request.min_nodes = 2;
  request.max_nodes = 8;
  request.cpus_per_task = 4;
  world_.Submit(Tasks(4));
  world_.Schedule();
  const JobId job = world_.Submit(request);
  world_.Schedule();
  ASSERT_TRUE(world_.state.FindJob(job)->attempt.has_value());
  EXPECT_EQ(world_.state.FindJob(job)->attempt->allocation.nodes.size(), 4U);
  EXPECT_EQ(SpecOf(job).request.tasks, 4U);
}

TEST_F(AlternativesTest, NodesFromMinimumToMaximumWaitForTheMinimumOnly) {
  for (const char* name : {"n1", "n2", "n3"}) {
    world_.AddNode(name);
  }
  world_.Submit(Tasks(4));
  world_.Schedule();
  ResourceRequest request;
  request.min_nodes = 3;
  request.max_nodes = 8;
  const JobId job = world_.Submit(request);
  world_.Schedule();
  EXPECT_FALSE(world_.state.FindJob(job)->attempt.has_value());
  EXPECT_EQ(world_.ReasonFor(job).kind, ReasonKind::kResources);
  request.min_nodes = 2;
  const JobId smaller = world_.Submit(request);
  world_.Schedule();
  ASSERT_TRUE(world_.state.FindJob(smaller)->attempt.has_value());
  EXPECT_EQ(world_.state.FindJob(smaller)->attempt->allocation.nodes.size(), 2U);
}

TEST_F(AlternativesTest, WhatIsAskedComesBackFromWhatWasChosen) {
  JobSpec spec = world_.Spec(Tasks(2));
  spec.request.min_nodes = 2;
  spec.request.max_nodes = 6;
  spec.request.as_wide_as_fits = true;
  EXPECT_EQ(AsAsked(AsChosen(spec, 0, 5)), spec);
  spec.request.as_wide_as_fits = false;
  spec.alternatives = {{spec.request, spec.time_limit}, {Tasks(7), std::chrono::hours(1)}};
  EXPECT_EQ(AsAsked(AsChosen(spec, 1, 0)), spec);
  EXPECT_EQ(AsChosen(spec, 1, 0).request.tasks, 7U);
}

}  // namespace
}  // namespace muster::core
