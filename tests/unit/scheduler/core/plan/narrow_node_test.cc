// Nodes that take only jobs which cannot span nodes.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <set>
#include <string>

#include "scheduler/core/handle/verify.h"
#include "scheduler/core/place/nodes/feature_match.h"
#include "tests/unit/scheduler/core/builders.h"

namespace muster::core {
namespace {

using ::testing::HasSubstr;
using testing::Shape;
using testing::World;

class NarrowNodeTest : public ::testing::Test {
 protected:
  const Shape kShape{.cores = 4};

  Transition Drain(const std::string& node, bool narrow = true, Time deadline = kNoTime) {
    return world_.Take(DrainNode{node, true, "port 1", kNoTime, deadline, narrow});
  }
  JobId Submit(std::uint32_t tasks, std::uint32_t least = 1, std::uint32_t most = UINT32_MAX) {
    ResourceRequest request = testing::Tasks(tasks);
    request.min_nodes = least;
    request.max_nodes = most;
    return world_.Submit(request);
  }
  bool Runs(JobId job) { return world_.state.FindJob(job)->attempt.has_value(); }
  std::set<NodeId> NodesOf(JobId job) {
    std::set<NodeId> nodes;
    for (const NodeAllocation& part : world_.state.FindJob(job)->attempt->allocation.nodes) {
      nodes.insert(part.node);
    }
    return nodes;
  }
  const Node& At(const std::string& name) { return *world_.state.FindNode(name); }

  World world_;
  const NodeId one_ = world_.AddNode("n1", kShape);
  const NodeId two_ = world_.AddNode("n2", kShape);
  const NodeId three_ = world_.AddNode("n3", kShape);
};

TEST_F(NarrowNodeTest, AJobOfSeveralNodesIsKeptOffIt) {
  Drain("n1");
  const JobId job = Submit(8);
  world_.Schedule();
  ASSERT_TRUE(Runs(job));
  EXPECT_EQ(NodesOf(job), (std::set<NodeId>{two_, three_}));
}

TEST_F(NarrowNodeTest, JobsThatCannotSpanNodesStartThere) {
  for (const char* const node : {"n1", "n2", "n3"}) {
    Drain(node);
  }
  const JobId task = Submit(1);
  const JobId node = Submit(4, 1, 1);
  world_.Schedule();
  EXPECT_TRUE(Runs(task));
  EXPECT_TRUE(Runs(node));
}

TEST_F(NarrowNodeTest, AJobThatNeedsItWaitsAndIsToldWhy) {
  Drain("n1");
  const JobId job = Submit(3, 3, 3);
  world_.Schedule();
  ASSERT_FALSE(Runs(job));
  EXPECT_EQ(world_.ReasonFor(job).kind, ReasonKind::kReqNodeNotAvail);
  EXPECT_THAT(ToSentence(world_.ReasonFor(job)),
              HasSubstr("1 drained for jobs that may span nodes"));
  world_.Take(DrainNode{"n1", false, ""});
  world_.Schedule();
  EXPECT_TRUE(Runs(job));
}

TEST_F(NarrowNodeTest, APlanFromBeforeStartsNoWideJobThere) {
  Submit(12, 3, 3);
  const Plan plan = world_.MakePlanNow();
  ASSERT_EQ(plan.starts.size(), 1U);
  Drain("n1");
  EXPECT_FALSE(Verifier(world_.state, world_.now).Accept(plan.starts[0]));
}

TEST_F(NarrowNodeTest, ItIsResumedAsDrainedNodesAreAndDrainedAltogetherByTheNextWord) {
  Drain("n1");
  EXPECT_TRUE(At("n1").narrow);
  EXPECT_FALSE(At("n1").drained);
  EXPECT_EQ(At("n1").drain_reason, "port 1");
  Drain("n1", false);
  EXPECT_FALSE(At("n1").narrow);
  EXPECT_TRUE(At("n1").drained);
  Drain("n1");
  world_.Take(DrainNode{"n1", false, ""});
  EXPECT_FALSE(At("n1").narrow);
  EXPECT_EQ(At("n1").drain_reason, "");
  EXPECT_TRUE(world_.Take(DrainNode{"n1", false, ""}).events.empty());
}

TEST_F(NarrowNodeTest, NoJobLeavesItByADeadline) {
  const Transition refused = Drain("n1", true, world_.now + std::chrono::hours(1));
  EXPECT_EQ(refused.status.message(),
            "--deadline: no job has to leave a node that is drained with --narrow");
}

TEST_F(NarrowNodeTest, WhatMaySpanNodesIsSaidByTasksAndNodes) {
  ResourceRequest request = testing::Tasks(2);
  request.max_nodes = 2;
  EXPECT_TRUE(MaySpanNodes(request));
  request.max_nodes = 1;
  EXPECT_FALSE(MaySpanNodes(request));
  request.max_nodes = 2;
  request.tasks = 1;
  EXPECT_FALSE(MaySpanNodes(request));
}

}  // namespace
}  // namespace muster::core
