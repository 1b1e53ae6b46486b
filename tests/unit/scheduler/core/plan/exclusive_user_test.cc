// --exclusive=user: the nodes of such a job have jobs of its user alone.

#include <gtest/gtest.h>

#include <chrono>

#include "scheduler/core/handle/verify.h"
#include "tests/unit/scheduler/core/policy_world.h"

namespace muster::core {
namespace {

using testing::PolicyWorld;
using testing::Tasks;

// In each order.
class ExclusiveUserTest : public ::testing::TestWithParam<QueueRule> {
 protected:
  ExclusiveUserTest() { world.config.priority.order = GetParam(); }

  JobId Submit(const User& user, bool alone, std::uint32_t tasks = 1, int minutes = 0) {
    JobSpec spec = world.Spec(Tasks(tasks));
    spec.user = user;
    spec.request.exclusive_user = alone;
    spec.time_limit = std::chrono::minutes(minutes);
    return world.Submit(spec);
  }
  bool Runs(JobId job) { return world.state.FindJob(job)->attempt.has_value(); }
  NodeId NodeOf(JobId job) {
    return world.state.FindJob(job)->attempt->allocation.nodes.front().node;
  }

  PolicyWorld world;
};

TEST_P(ExclusiveUserTest, ANodeWithSomebodyElsesJobIsNotGivenToIt) {
  world.AddNode("n1");
  Submit(world.ada, false);
  world.Schedule();
  const JobId alone = Submit(world.bob, true);
  world.Schedule();
  EXPECT_FALSE(Runs(alone));
  EXPECT_EQ(world.ReasonFor(alone).kind, ReasonKind::kResources);
  EXPECT_EQ(ToSentence(world.ReasonFor(alone)), "1 node: 1 with jobs of other users");
}

TEST_P(ExclusiveUserTest, SomebodyElsesJobIsNotGivenItsNode) {
  world.AddNode("n1");
  Submit(world.ada, true);
  world.Schedule();
  const JobId other = Submit(world.bob, false);
  world.Schedule();
  EXPECT_FALSE(Runs(other));
  EXPECT_EQ(ToSentence(world.ReasonFor(other)),
            "1 node: 1 kept by another user for jobs of that user alone");
}

TEST_P(ExclusiveUserTest, JobsOfItsUserShareTheNode) {
  world.AddNode("n1");
  const JobId jobs[] = {Submit(world.ada, false), Submit(world.ada, true), Submit(world.ada, true),
                        Submit(world.ada, false)};
  world.Schedule();
  for (const JobId job : jobs) {
    EXPECT_TRUE(Runs(job)) << "job " << job.value();
  }
}

TEST_P(ExclusiveUserTest, WhatOneCycleStartsKeepsTheSameRule) {
  world.AddNode("n1");
  world.AddNode("n2");
  const JobId alone = Submit(world.ada, true);
  const JobId other = Submit(world.bob, false);
  const JobId second = Submit(world.bob, false);
  world.Schedule();
  ASSERT_TRUE(Runs(alone));
  ASSERT_TRUE(Runs(other));
  ASSERT_TRUE(Runs(second));
  EXPECT_NE(NodeOf(alone), NodeOf(other));
  EXPECT_EQ(NodeOf(other), NodeOf(second));
}

TEST_P(ExclusiveUserTest, TheNodeIsOpenToOthersOnceItsJobsHaveEnded) {
  const NodeId node = world.AddNode("n1");
  const JobId alone = Submit(world.ada, true);
  world.Schedule();
  world.TellStarted(node, alone);
  const JobId other = Submit(world.bob, false);
  world.Schedule();
  ASSERT_FALSE(Runs(other));
  world.TellEnded(node, alone, 2);
  world.Schedule();
  EXPECT_TRUE(Runs(other));
}

TEST_P(ExclusiveUserTest, AKeptPlaceBeginsWhenTheLastOfOtherUsersEnds) {
  world.AddNode("n1");
  Submit(world.ada, false, 1, 10);
  Submit(world.ada, false, 1, 30);
  world.Schedule();
  const JobId alone = Submit(world.bob, true, 1, 10);
  const Plan plan = world.MakePlanNow();
  ASSERT_EQ(plan.reservations.size(), 1U);
  EXPECT_EQ(plan.reservations[0].job, alone);
  EXPECT_EQ(plan.reservations[0].start, world.now + std::chrono::minutes(30));
}

TEST_P(ExclusiveUserTest, NobodyElseIsPutIntoTheTimeOfAKeptPlace) {
  world.AddNode("n1");
  Submit(world.ada, false, 1, 10);
  world.Schedule();
  Submit(world.bob, true, 1, 10);
  const JobId long_one = Submit(world.ada, false, 1, 60);
  const JobId short_one = Submit(world.ada, false, 1, 5);
  world.Schedule();
  EXPECT_FALSE(Runs(long_one)) << "it would keep bob from his node for longer";
  EXPECT_TRUE(Runs(short_one)) << "it is over by then";
}

TEST_P(ExclusiveUserTest, AnAlternativeMayAskForIt) {
  world.AddNode("n1");
  Submit(world.ada, false);
  world.Schedule();
  JobSpec spec = world.Spec(Tasks(1));
  spec.user = world.bob;
  Alternative alone{spec.request, spec.time_limit};
  alone.request.exclusive_user = true;
  spec.alternatives = {alone, Alternative{spec.request, spec.time_limit}};
  const JobId job = world.Submit(spec);
  world.Schedule();
  ASSERT_TRUE(Runs(job)) << "the other alternative shares";
  EXPECT_FALSE(world.state.FindJob(job)->spec->request.exclusive_user);
}

TEST_P(ExclusiveUserTest, APlanThatWasMadeBeforeSomebodyElseCameIsRefused) {
  world.AddNode("n1");
  const JobId alone = Submit(world.ada, true);
  const JobId other = Submit(world.bob, false);
  Plan plan = world.MakePlanNow();
  ASSERT_EQ(plan.starts.size(), 1U);
  PlannedStart start = plan.starts[0];
  ASSERT_EQ(start.job, alone);
  Verifier verifier(world.state);
  EXPECT_TRUE(verifier.Accept(start));
  PlannedStart beside = start;
  beside.job = other;
  beside.allocation.nodes[0].cpus = testing::Cpus("3");
  beside.allocation.nodes[0].memory = Bytes();
  EXPECT_FALSE(verifier.Accept(beside));
}

TEST_P(ExclusiveUserTest, APreemptionEndsAllJobsOfOthersOnTheNode) {
  world.Add(PolicyKind::kQos, "low");
  world.Add(PolicyKind::kQos, "high", {{"Preempt", "low"}});
  world.AddNode("n1");
  world.Run(Tasks(1), "low");
  world.Run(Tasks(1), "low");
  JobSpec spec = world.Spec(Tasks(1));
  spec.user = world.bob;
  spec.qos = "high";
  spec.request.exclusive_user = true;
  world.Submit(spec);
  const Plan plan = world.MakePlanNow();
  ASSERT_EQ(plan.preemptions.size(), 1U);
  EXPECT_EQ(plan.preemptions[0].victims.size(), 2U);
}

INSTANTIATE_TEST_SUITE_P(Orders, ExclusiveUserTest,
                         ::testing::Values(QueueRule::kPriority, QueueRule::kDrf,
                                           QueueRule::kPrompt));

}  // namespace
}  // namespace muster::core
