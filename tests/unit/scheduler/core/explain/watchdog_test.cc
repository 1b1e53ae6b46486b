#include "scheduler/core/explain/watchdog.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>

#include "scheduler/base/text/time_text.h"
#include "tests/unit/scheduler/core/policy_world.h"

namespace muster::core {
namespace {

using testing::PolicyWorld;
using testing::Tasks;

// A planner that forgets a job: its start is gone, and it waits as if somebody were before it.
Plan Forgetting(Plan plan, JobId job) {
  std::erase_if(plan.starts, [job](const PlannedStart& start) { return start.job == job; });
  LeftWaiting left;
  left.job = job;
  left.reason.kind = ReasonKind::kPriority;
  plan.waiting.push_back(left);
  return plan;
}

std::vector<OverlookedJob> Overlooked(const PolicyWorld& world, const Plan& plan) {
  return FindOverlooked(*BuildSnapshot(world.state, world.now), plan, world.config);
}

TEST(Watchdog, SeesTheJobThatThePlannerForgets) {
  PolicyWorld world;
  world.AddNode("n1");
  const NodeId second = world.AddNode("n2");
  world.Submit(Tasks(1, 4));
  const JobId forgotten = world.Submit(Tasks(1, 3));
  const Plan plan = world.MakePlanNow();
  ASSERT_EQ(plan.starts.size(), 2U);
  EXPECT_TRUE(Overlooked(world, plan).empty());
  const auto overlooked = Overlooked(world, Forgetting(plan, forgotten));
  ASSERT_EQ(overlooked.size(), 1U);
  EXPECT_EQ(overlooked[0].job, forgotten);
  EXPECT_EQ(overlooked[0].nodes, std::vector{second});
}

TEST(Watchdog, ThoseBehindAHeterogeneousJobWaitForItWhereNoneMayOvertake) {
  PolicyWorld world;
  world.config.backfill = Backfill::kNone;
  world.AddNode("n1");
  world.AddNode("n2");
  world.Submit(Tasks(1, 4));
  world.Schedule();
  SubmitJob both;
  both.token = "both";
  both.spec = world.Spec(Tasks(1, 4));
  both.program = testing::Script();
  both.components = {Component{both.spec, {}}};
  ASSERT_TRUE(world.Take(both).status.ok());
  world.Submit(Tasks(1, 1));
  const Plan plan = world.MakePlanNow();
  ASSERT_TRUE(plan.starts.empty());
  EXPECT_TRUE(Overlooked(world, plan).empty());
}

TEST(Watchdog, LeavesTheNodesOfAReservationAlone) {
  PolicyWorld world;
  world.AddNode("n1");
  const NodeId second = world.AddNode("n2");
  JobSpec running = world.Spec(Tasks(1, 4));
  running.time_limit = std::chrono::hours(1);
  world.Submit(running);
  world.Schedule();
  ResourceRequest both = Tasks(2, 4);
  both.min_nodes = both.max_nodes = 2;
  world.Submit(both);
  JobSpec brief = world.Spec(Tasks(1, 2));
  brief.time_limit = std::chrono::minutes(10);
  const JobId fits_before = world.Submit(brief);
  brief.time_limit = std::chrono::hours(2);
  const JobId would_delay = world.Submit(brief);
  const Plan plan = world.MakePlanNow();
  ASSERT_EQ(plan.reservations.size(), 1U);
  EXPECT_TRUE(Overlooked(world, plan).empty()) << "job " << ToString(would_delay);
  const auto overlooked = Overlooked(world, Forgetting(plan, fits_before));
  ASSERT_EQ(overlooked.size(), 1U);
  EXPECT_EQ(overlooked[0].job, fits_before);
  EXPECT_EQ(overlooked[0].nodes, std::vector{second});
}

TEST(Watchdog, LeavesWhatIsKeptForAJobWhoseStartNoPlanKnowsAndThatAReservationHoldsUp) {
  PolicyWorld world;
  world.AddNode("n1");
  world.AddNode("n2");
  world.Submit(Tasks(1, 4));
  world.Schedule();
  world.Add(PolicyKind::kReservation, "mine",
            {{"StartTime", MomentText(world.now)},
             {"Duration", "60"},
             {"Nodes", "n2"},
             {"Users", "root"}});
  world.AddNode("n3");
  ResourceRequest all = Tasks(3, 4);
  all.min_nodes = all.max_nodes = 3;
  world.Submit(all);
  const JobId behind = world.Submit(Tasks(1, 3));
  const Plan plan = world.MakePlanNow();
  ASSERT_EQ(plan.waiting.size(), 2U);
  EXPECT_EQ(plan.waiting[0].reason.kind, ReasonKind::kReservation);
  EXPECT_TRUE(plan.reservations.empty());
  EXPECT_TRUE(Overlooked(world, plan).empty()) << "job " << ToString(behind);
}

TEST(Watchdog, LeavesWhatIsKeptForAnElementWhoseStartNoPlanKnowsThoughThatOfTheFirstIsKnown) {
  PolicyWorld world;
  world.AddNode("n1");
  world.AddNode("n2");
  world.Submit(Tasks(1, 3));
  world.Schedule();
  world.Add(PolicyKind::kReservation, "mine",
            {{"StartTime", MomentText(world.now)},
             {"Duration", "60"},
             {"Nodes", "n2"},
             {"Users", "root"}});
  JobSpec pair = world.Spec(Tasks(1, 4));
  pair.array = ArraySpec{{{0, 1, 1}}, 0};
  world.Submit(pair);
  const JobId behind = world.Submit(Tasks(1, 1));
  const Plan plan = world.MakePlanNow();
  ASSERT_EQ(plan.waiting.size(), 2U);
  EXPECT_EQ(plan.waiting[0].reason.kind, ReasonKind::kReservation);
  EXPECT_EQ(plan.waiting[0].count, 2U);
  EXPECT_EQ(plan.reservations.size(), 1U);
  EXPECT_TRUE(Overlooked(world, plan).empty()) << "job " << ToString(behind);
}

TEST(Watchdog, LeavesThoseBehindAJobWithAChoiceThatAReservationHoldsUpWhereNobodyMayPassIt) {
  PolicyWorld world;
  world.AddNode("n1");
  world.config.backfill = Backfill::kNone;
  JobSpec running = world.Spec(Tasks(1, 2));
  running.time_limit = std::chrono::minutes(40);
  world.Submit(running);
  world.Schedule();
  world.Add(PolicyKind::kReservation, "soon",
            {{"StartTime", MomentText(world.now + std::chrono::hours(1))},
             {"Duration", "60"},
             {"Nodes", "n1"},
             {"Users", "root"}});
  JobSpec choice = world.Spec(Tasks(1, 1));
  choice.time_limit = std::chrono::hours(2);
  choice.alternatives = {{choice.request, choice.time_limit},
                         {Tasks(1, 4), std::chrono::minutes(30)}};
  world.Submit(choice);
  JobSpec brief = world.Spec(Tasks(1, 1));
  brief.time_limit = std::chrono::minutes(30);
  const JobId behind = world.Submit(brief);
  const Plan plan = world.MakePlanNow();
  ASSERT_EQ(plan.waiting.size(), 2U);
  EXPECT_EQ(plan.waiting[0].reason.kind, ReasonKind::kReservation);
  EXPECT_EQ(plan.waiting[1].reason.kind, ReasonKind::kPriority);
  EXPECT_TRUE(Overlooked(world, plan).empty()) << "job " << ToString(behind);
}

TEST(Watchdog, LeavesNodesOfAnotherUserAloneForWhoWantsNodesOfHisOwn) {
  PolicyWorld world;
  world.AddNode("n1");
  world.Submit(Tasks(1));
  world.Schedule();
  JobSpec apart = world.Spec(Tasks(1));
  apart.user = User{2000, 2000, "bob"};
  apart.request.exclusive_user = true;
  const JobId job = world.Submit(apart);
  const Plan plan = world.MakePlanNow();
  ASSERT_TRUE(plan.starts.empty());
  EXPECT_TRUE(Overlooked(world, plan).empty());
  apart.user = world.ada;
  apart.time_limit = std::chrono::minutes(10);
  const JobId own = world.Submit(apart);
  const auto overlooked = Overlooked(world, Forgetting(world.MakePlanNow(), own));
  ASSERT_EQ(overlooked.size(), 1U) << "job " << ToString(job) << " is not among them";
  EXPECT_EQ(overlooked[0].job, own);
}

TEST(Watchdog, SaysNothingWhileAnElasticJobIsAboutToGrow) {
  PolicyWorld world;
  world.AddNode("n1");
  world.AddNode("n2");
  world.Submit(Tasks(1, 4));
  world.Schedule();
  const JobId forgotten = world.Submit(Tasks(1, 3));
  const Plan plan = Forgetting(world.MakePlanNow(), forgotten);
  Snapshot snapshot = *BuildSnapshot(world.state, world.now);
  ASSERT_EQ(snapshot.running.size(), 1U);
  EXPECT_EQ(FindOverlooked(snapshot, plan, world.config).size(), 1U);
  snapshot.running[0].resizing = true;
  EXPECT_TRUE(FindOverlooked(snapshot, plan, world.config).empty());
}

TEST(Watchdog, LeavesOutWhoWaitsForWhatOthersWerePromised) {
  PolicyWorld world;
  world.AddNode("n1");
  const JobId forgotten = world.Submit(Tasks(1, 3));
  Plan plan = Forgetting(world.MakePlanNow(), forgotten);
  world.config.priority.order = QueueRule::kPrompt;
  EXPECT_TRUE(Overlooked(world, plan).empty());
  plan.waiting.back().reason.kind = ReasonKind::kResources;
  EXPECT_EQ(Overlooked(world, plan).size(), 1U);
}

TEST(Watchdog, LeavesOutWhoIsToldOfAnotherAlternativeThanTheOneThatOthersPromisesHoldUp) {
  PolicyWorld world;
  world.AddNode("n1");
  JobSpec spec;
  spec.request = Tasks(1, 3);
  const Alternative wide{Tasks(1, 4), spec.time_limit};
  const Alternative narrow{spec.request, spec.time_limit};
  spec.alternatives = {wide, narrow};
  const JobId forgotten = world.Submit(spec);
  Plan plan = Forgetting(world.MakePlanNow(), forgotten);
  plan.waiting.back().reason.kind = ReasonKind::kQOSMaxWallDurationPerJobLimit;
  EXPECT_EQ(Overlooked(world, plan).size(), 1U);
  world.config.priority.order = QueueRule::kPrompt;
  EXPECT_TRUE(Overlooked(world, plan).empty());
  plan.waiting.back().reason.kind = ReasonKind::kResources;
  EXPECT_EQ(Overlooked(world, plan).size(), 1U);
}

TEST(Watchdog, KnowsOfHoldsBeginTimesAndLimits) {
  PolicyWorld world;
  world.AddNode("n1");
  world.Add(PolicyKind::kQos, "one", {{"MaxJobsPerUser", "1"}});
  JobSpec spec = world.Spec(Tasks(1));
  spec.held = true;
  world.Submit(spec);
  spec.held = false;
  spec.begin = world.now + std::chrono::hours(1);
  world.Submit(spec);
  spec.begin = kNoTime;
  spec.qos = "one";
  world.Submit(spec);
  world.Submit(spec);
  const Plan plan = world.MakePlanNow();
  ASSERT_EQ(plan.starts.size(), 1U);
  ASSERT_EQ(plan.waiting.size(), 3U);
  EXPECT_TRUE(Overlooked(world, plan).empty());
}

TEST(Watchdog, TellsOnceAfterMoreThanTwoPlans) {
  const OverlookedJob first{JobId(7), {NodeId(1)}, testing::At(100)};
  OverlookedJob later = first;
  later.since = testing::At(200);
  Watchdog watchdog;
  EXPECT_TRUE(watchdog.ReportOverlooked({first}).empty());
  EXPECT_TRUE(watchdog.ReportOverlooked({later}).empty());
  EXPECT_TRUE(watchdog.alerts().empty());
  const auto alerts = watchdog.ReportOverlooked({later});
  ASSERT_EQ(alerts.size(), 1U);
  EXPECT_EQ(alerts[0].job, JobId(7));
  EXPECT_EQ(alerts[0].since, testing::At(100));
  EXPECT_TRUE(watchdog.ReportOverlooked({later}).empty());
  EXPECT_EQ(watchdog.alerts().size(), 1U);
  EXPECT_TRUE(watchdog.ReportOverlooked({}).empty());
  EXPECT_TRUE(watchdog.alerts().empty());
  EXPECT_TRUE(watchdog.ReportOverlooked({later}).empty());
}

// What a job that starts elsewhere leaves is free again a second later, and cycles may follow one
// another faster.
TEST(Watchdog, SaysNothingOfAJobThatCyclesLeftForLessThanTwoSeconds) {
  OverlookedJob job{JobId(7), {NodeId(1)}, testing::At(100)};
  Watchdog watchdog;
  for (int cycle = 0; cycle < 10; ++cycle, job.since += std::chrono::milliseconds(200)) {
    EXPECT_TRUE(watchdog.ReportOverlooked({job}).empty()) << cycle;
  }
  EXPECT_TRUE(watchdog.alerts().empty());
  EXPECT_EQ(watchdog.ReportOverlooked({job}).size(), 1U);
}

}  // namespace
}  // namespace muster::core
