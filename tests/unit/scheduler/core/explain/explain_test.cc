#include "scheduler/core/explain/explain.h"

#include <gtest/gtest.h>

#include "tests/unit/scheduler/core/builders.h"

namespace muster::core {
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
  EXPECT_EQ(explanation.summary, "3 nodes: 1 short of 3 cores (has 2), 1 drained, 1 down");
  EXPECT_EQ(explanation.nodes, (std::vector<NodeAnswer>{{"n1", false, "short of 3 cores (has 2)"},
                                                        {"n2", false, "drained"},
                                                        {"n3", false, "down"}}));
}

TEST(Explain, SaysWhichJobsAreBeforeItAndWhatTheFirstWaitsFor) {
  World world = Busy();
  world.config.backfill = Backfill::kNone;
  const Explanation explanation =
      ExplainWaiting(*BuildSnapshot(world.state, world.now), JobId(3), world.MakePlanNow());
  EXPECT_EQ(explanation.summary,
            "1 job before it, first job 2; that one waits: 3 nodes: 1 short "
            "of 3 cores (has 2), 1 drained, 1 down");
  EXPECT_EQ(explanation.nodes[0], (NodeAnswer{"n1", true, "has room for 1 of 1 task"}));
}

TEST(Explain, TellsEveryReasonAndNotOnlyTheFirst) {
  World world = Busy();
  JobSpec spec = testing::Normal(Tasks(1));
  spec.held = true;
  spec.begin = world.now + std::chrono::hours(1);
  world.Take(SubmitJob{"held", spec, testing::Script()});
  const Explanation explanation =
      ExplainWaiting(*BuildSnapshot(world.state, world.now), JobId(4), world.MakePlanNow());
  EXPECT_EQ(explanation.reason.kind, ReasonKind::kJobHeldUser);
  EXPECT_NE(explanation.summary.find("; also not before "), std::string::npos)
      << explanation.summary;
}

TEST(Explain, SaysThatNoPassHasLookedAtAJobYet) {
  const World world = Busy();
  EXPECT_EQ(ExplainWaiting(*BuildSnapshot(world.state, world.now), JobId(2), Plan()).summary,
            "no cycle has looked at it yet");
}

TEST(Explain, SaysThatAPlannedJobIsAboutToStart) {
  World world;
  world.AddNode("n1");
  const JobId job = world.Submit(Tasks(1));
  EXPECT_EQ(
      ExplainWaiting(*BuildSnapshot(world.state, world.now), job, world.MakePlanNow()).summary,
      "about to start");
}

TEST(Explain, AJobThatDoesNotWaitSaysSo) {
  const World world = Busy();
  const Explanation explanation =
      ExplainWaiting(*BuildSnapshot(world.state, world.now), JobId(1), world.MakePlanNow());
  EXPECT_EQ(explanation.summary, "does not wait");
  EXPECT_TRUE(explanation.nodes.empty());
}

}  // namespace
}  // namespace muster::core
