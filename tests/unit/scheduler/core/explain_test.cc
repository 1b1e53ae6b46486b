#include "scheduler/core/explain.h"

#include <gtest/gtest.h>

#include "tests/unit/scheduler/core/builders.h"

namespace muster {
namespace {

using testing::Tasks;
using testing::World;

// n1: 2 of 4 cores taken by job 1; n2: 8 cores, drained; n3: down. Jobs 2 and 3 wait.
World Busy() {
  World world;
  world.AddNode("n1");
  world.Submit(Tasks(2));
  world.Schedule();
  world.AddNode("n2", {.cores = 8});
  world.Take(LoseAgent{world.AddNode("n3")});
  world.Take(DrainNode{"n2", true, "disk"});
  world.Submit(Tasks(1, 3));
  world.Submit(Tasks(1));
  return world;
}

TEST(Explain, SaysOfEveryNodeWhatItLacks) {
  const World world = Busy();
  const Explanation explanation =
      ExplainWaiting(*BuildSnapshot(world.state, world.now), JobId(2), world.MakePlanNow());
  EXPECT_EQ(explanation.reason.kind, ReasonKind::kResources);
  EXPECT_EQ(explanation.summary,
            "job 2 waits: Resources: 3 nodes: 1 short of 3 cores (has 2), 1 drained, 1 down");
  EXPECT_EQ(explanation.nodes, (std::vector<NodeAnswer>{{"n1", false, "short of 3 cores (has 2)"},
                                                        {"n2", false, "drained"},
                                                        {"n3", false, "down"}}));
}

TEST(Explain, SaysWhichJobsAreBeforeItAndWhatTheFirstWaitsFor) {
  const World world = Busy();
  const Explanation explanation =
      ExplainWaiting(*BuildSnapshot(world.state, world.now), JobId(3), world.MakePlanNow());
  EXPECT_EQ(explanation.summary,
            "job 3 waits: Priority: 1 job before it, first job 2; that one waits: 3 nodes: 1 short "
            "of 3 cores (has 2), 1 drained, 1 down");
  EXPECT_EQ(explanation.nodes[0], (NodeAnswer{"n1", true, "has room for 1 of 1 task"}));
}

TEST(Explain, SaysThatNoPassHasLookedAtAJobYet) {
  const World world = Busy();
  EXPECT_EQ(ExplainWaiting(*BuildSnapshot(world.state, world.now), JobId(2), Plan()).summary,
            "job 2 waits: NotPlannedYet: no pass has looked at it yet");
  EXPECT_EQ(ExplainJob(world.state, *world.state.FindJob(JobId(2)), nullptr, world.now).summary,
            "job 2 waits: NotPlannedYet: no pass has looked at it yet");
}

TEST(Explain, SaysThatAPlannedJobIsAboutToStart) {
  World world;
  world.AddNode("n1");
  const JobId job = world.Submit(Tasks(1));
  EXPECT_EQ(
      ExplainWaiting(*BuildSnapshot(world.state, world.now), job, world.MakePlanNow()).summary,
      "job 1 is about to start");
}

TEST(Explain, AJobThatDoesNotWaitSaysSo) {
  const World world = Busy();
  const Explanation explanation =
      ExplainWaiting(*BuildSnapshot(world.state, world.now), JobId(1), world.MakePlanNow());
  EXPECT_EQ(explanation.summary, "job 1 does not wait");
  EXPECT_TRUE(explanation.nodes.empty());
}

TEST(Explain, FromTheStateSaysTheSameAsFromASnapshot) {
  const World world = Busy();
  const Plan plan = world.MakePlanNow();
  for (const JobId job : {JobId(2), JobId(3)}) {
    EXPECT_EQ(ExplainJob(world.state, *world.state.FindJob(job), &plan, world.now),
              ExplainWaiting(*BuildSnapshot(world.state, world.now), job, plan));
  }
}

TEST(Explain, ARunningJobSaysWhereItsRanksAre) {
  const World world = Busy();
  const Explanation explanation =
      ExplainJob(world.state, *world.state.FindJob(JobId(1)), nullptr, world.now);
  EXPECT_EQ(explanation.summary,
            "job 1 is CONFIGURING on 1 node, the fewest and tightest that held it when it started");
  EXPECT_EQ(explanation.nodes,
            (std::vector<NodeAnswer>{{"n1", true, "2 ranks on CPUs 0-1, memory nodes 0"}}));
}

}  // namespace
}  // namespace muster
