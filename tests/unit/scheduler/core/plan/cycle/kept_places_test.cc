// The order called prompt on clusters: who overtakes whom, and that no promise is broken.
#include "scheduler/core/plan/cycle/kept_places.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <chrono>
#include <vector>

#include "absl/time/time.h"
#include "tests/unit/scheduler/core/builders.h"
#include "tests/unit/scheduler/core/playing.h"
#include "tests/unit/scheduler/core/policy_world.h"

namespace muster::core {
namespace {

using testing::After;
using testing::Playing;
using testing::PolicyWorld;
using testing::Tasks;

ResourceRequest Nodes(std::uint32_t nodes) {
  ResourceRequest request = Tasks(nodes, 4);
  request.min_nodes = nodes;
  return request;
}

Playing Prompt(const std::vector<testing::Shape>& nodes) {
  Playing run(nodes);
  run.config.priority.order = QueueRule::kPrompt;
  return run;
}

TEST(KeptPlaces, AShortJobOvertakesALongOneThatWaits) {
  Playing run = Prompt({{.cores = 4}});
  run.Submit(Nodes(1), 1000);
  run.RunCycle();
  run.Submit(Nodes(1), 5000);
  run.Submit(Nodes(1), 50);
  run.RunDry();
  EXPECT_EQ(run.Of(3).started, After(1000));
  EXPECT_EQ(run.Of(2).started, After(1050));
}

TEST(KeptPlaces, APromiseIsWhatFirstComeFirstServedGivesAndTheSlack) {
  Playing run = Prompt({{.cores = 4}});
  run.config.prompt.slack = std::chrono::seconds(500);
  run.Submit(Nodes(1), 1000);
  run.RunCycle();
  run.Submit(Nodes(1), 300);
  run.RunCycle();
  run.Submit(Nodes(1), 40);
  run.RunCycle();
  EXPECT_EQ(run.Of(2).by, After(1000 + 500));
  constexpr int kMargin = 60;  // by which a place is longer than the limit
  EXPECT_EQ(run.Of(3).by, After(1300 + kMargin + 500));
}

TEST(KeptPlaces, AWideJobStartsByItsPromiseHoweverManyShortOnesCome) {
  Playing run = Prompt({{.cores = 4}, {.cores = 4}});
  run.config.prompt.slack = std::chrono::seconds(900);
  run.config.prompt.patience = std::chrono::hours(1000);
  run.Submit(Nodes(1), 100);
  run.Submit(Nodes(2), 100);
  run.RunCycle();
  ASSERT_EQ(run.Of(2).by, After(100 + 900));
  for (int i = 0; i < 40; ++i) {
    run.Submit(Nodes(1), 45);
    run.RunCycle();
    run.MoveTo(After(30 * (i + 1)));
    run.RunCycle();
  }
  run.RunDry();
  EXPECT_LE(run.Of(2).started, After(100 + 900));
}

TEST(KeptPlaces, WhoHasLostHisPatienceGoesFirst) {
  Playing run = Prompt({{.cores = 4}});
  run.config.prompt.patience = std::chrono::seconds(200);
  run.config.prompt.backlog_permille = 0;
  run.Submit(Nodes(1), 300);
  run.RunCycle();
  run.Submit(Nodes(1), 5000);
  run.MoveTo(After(250));
  run.Submit(Nodes(1), 50);
  run.RunCycle();
  run.RunDry();
  EXPECT_EQ(run.Of(2).started, After(300));
}

TEST(KeptPlaces, AJobStartsEarlyInItsOwnPlaceOnNodesThatOnlyItKeeps) {
  Playing run = Prompt({{.cores = 4}, {.cores = 4}});
  run.config.prompt.slack = std::chrono::seconds(50);
  run.Submit(Nodes(1), 1000, 100);
  run.Submit(Nodes(2), 2000);
  run.RunCycle();
  run.Advance();
  run.RunCycle();
  EXPECT_EQ(run.Of(2).started, After(100)) << "its place, from 1050 on, is its own";
}

TEST(KeptPlaces, APlaceThatMovesForwardIsNotInTheWayOfAJobThatChangesItsSize) {
  Playing run = Prompt({{.cores = 4}, {.cores = 4}});
  run.config.prompt.slack = std::chrono::seconds(3000);
  run.Submit(Nodes(1), 100);
  run.Submit(Nodes(2), 1000);
  run.RunCycle();
  run.Submit(Nodes(1), 500);
  run.ComesBackResized();
  run.RunCycle();
  run.Advance();
  run.RunCycle();
  EXPECT_EQ(run.Of(3).started, After(1)) << "once the place of the second has been put off";
}

TEST(KeptPlaces, AJobBehindOneThatOutlivesItsLimitKeepsNoSecondPlace) {
  Playing run = Prompt({{.cores = 4}, {.cores = 4}});
  run.config.prompt.slack = std::chrono::seconds(500);
  run.Submit(Nodes(1), 100, 100000);
  run.Submit(Tasks(1, 1), 3000);
  run.RunCycle();
  run.Submit(Nodes(1), 1000);
  run.RunCycle();
  run.MoveTo(After(300));
  run.RunCycle();
  run.Submit(Tasks(1, 3), 0, 10);
  run.RunCycle();
  EXPECT_EQ(run.Of(4).started, After(300)) << "beside the second, where nobody else is to start";
}

TEST(KeptPlaces, TheComponentsOfAHeterogeneousJobHaveOnePromise) {
  Playing run = Prompt({{.cores = 4}, {.cores = 4}, {.cores = 4}});
  run.config.prompt.slack = std::chrono::seconds(500);
  run.config.prompt.backlog_permille = 0;
  run.Submit(Nodes(1), 1000);
  run.RunCycle();
  run.SubmitTogether({Nodes(1), Nodes(2)}, 100);
  run.RunCycle();
  EXPECT_EQ(run.Of(2).by, After(1000 + 500));
  EXPECT_EQ(run.Of(3).by, run.Of(2).by);
  EXPECT_EQ(run.Of(2).promised, run.Of(3).promised) << "they are shown together";
}

TEST(KeptPlaces, AHeterogeneousJobStartsByItsPromiseHoweverManyShortOnesCome) {
  Playing run = Prompt({{.cores = 4}, {.cores = 4}});
  run.config.prompt.slack = std::chrono::seconds(900);
  run.config.prompt.patience = std::chrono::hours(1000);
  run.Submit(Nodes(1), 100);
  run.SubmitTogether({Nodes(1), Nodes(1)}, 100);
  run.RunCycle();
  ASSERT_EQ(run.Of(2).by, After(100 + 900));
  for (int i = 0; i < 40; ++i) {
    run.Submit(Nodes(1), 45);
    run.RunCycle();
    run.MoveTo(After(30 * (i + 1)));
    run.RunCycle();
  }
  run.RunDry();
  EXPECT_LE(run.Of(2).started, After(100 + 900));
  EXPECT_EQ(run.Of(3).started, run.Of(2).started);
}

TEST(KeptPlaces, AHeterogeneousJobStartsEarlyOnNodesThatOnlyItKeeps) {
  Playing run = Prompt({{.cores = 4}, {.cores = 4}});
  run.config.prompt.slack = std::chrono::seconds(50);
  run.Submit(Nodes(1), 1000, 100);
  run.SubmitTogether({Nodes(1), Tasks(1, 2)}, 2000);
  run.RunCycle();
  run.Advance();
  run.RunCycle();
  EXPECT_EQ(run.Of(2).started, After(100)) << "its place, from 1050 on, is its own";
  EXPECT_EQ(run.Of(3).started, After(100));
}

JobId SubmitFor(PolicyWorld& world, const ResourceRequest& request, int minutes,
                const std::string& partition, const std::string& account = "") {
  JobSpec spec = world.Spec(request);
  spec.time_limit = std::chrono::minutes(minutes);
  spec.partition = partition;
  spec.account = account;
  return world.Submit(spec);
}

TEST(KeptPlaces, AJobThatALimitStopsKeepsNobodyFromTheNodesThatItWaitedFor) {
  PolicyWorld world;
  world.config.priority.order = QueueRule::kPrompt;
  world.AddNode("n1");
  world.Add(PolicyKind::kAccount, "physics", {{"GrpTRES", "cpu=3"}});
  world.Add(PolicyKind::kAccount, "chemistry");
  const JobId running = SubmitFor(world, Nodes(1), 10, "", "chemistry");
  world.Schedule();
  ResourceRequest whole = Tasks(1, 1);
  whole.exclusive = true;  // all four cores of the node
  const JobId stopped = SubmitFor(world, whole, 10, "", "physics");
  world.Schedule();
  ASSERT_NE(world.state.FindJob(stopped)->promised, kNoTime);
  world.End(running);
  world.Schedule();
  ASSERT_FALSE(world.state.FindJob(stopped)->attempt.has_value());
  const JobId other = SubmitFor(world, Nodes(1), 60, "", "chemistry");
  world.Schedule();
  EXPECT_TRUE(world.state.FindJob(other)->attempt.has_value()) << world.StatusOf(other);
}

TEST(KeptPlaces, AJobThatALimitStopsKeepsNoPlaceForLaterEither) {
  PolicyWorld world;
  world.config.priority.order = QueueRule::kPrompt;
  const NodeId first = world.AddNode("n1");
  world.AddNode("n2");
  world.Add(PolicyKind::kAccount, "physics", {{"GrpTRES", "cpu=3"}});
  world.Add(PolicyKind::kAccount, "chemistry");
  const JobId running = SubmitFor(world, Nodes(1), 10, "", "chemistry");
  world.Schedule();
  ASSERT_EQ(world.state.FindJob(running)->attempt->allocation.nodes.front().node, first);
  SubmitFor(world, Tasks(1), 60, "", "chemistry");
  world.Schedule();
  ResourceRequest whole = Tasks(1, 1);
  whole.exclusive = true;
  const JobId stopped = SubmitFor(world, whole, 10, "", "physics");
  world.Schedule();
  ASSERT_NE(world.state.FindJob(stopped)->promised, kNoTime);
  world.End(running);
  // It fits on n1 before that, but a place, which is a minute longer, does not.
  const auto begin = [&](int seconds) {
    return absl::FormatTime("%Y-%m-%dT%H:%M:%SZ",
                            absl::FromChrono(world.now + std::chrono::seconds(seconds)),
                            absl::UTCTimeZone());
  };
  world.Add(
      PolicyKind::kReservation, "soon",
      {{"Nodes", "n1"}, {"StartTime", begin(630)}, {"EndTime", begin(4230)}, {"Users", "root"}});
  const JobId endless = SubmitFor(world, Tasks(1), 0, "", "chemistry");
  world.Schedule();
  EXPECT_FALSE(world.state.FindJob(stopped)->attempt.has_value());
  EXPECT_TRUE(world.state.FindJob(endless)->attempt.has_value()) << world.StatusOf(endless);
}

TEST(KeptPlaces, ThePlanShowsTheFirstOfATierWhereOthersMadeWayThoughItsPartitionWaitsForAnother) {
  PolicyWorld world;
  world.config.priority.order = QueueRule::kPrompt;
  world.AddNode("n1");
  world.AddNode("n2");
  world.AddNode("n3");
  world.Add(PolicyKind::kPartition, "high", {{"PriorityTier", "2"}, {"Nodes", "n[1-3]"}});
  world.Add(PolicyKind::kPartition, "low", {{"Nodes", "n[1-3]"}});
  SubmitFor(world, Nodes(1), 1000, "low");
  SubmitFor(world, Nodes(1), 10, "low");
  world.Schedule();
  SubmitFor(world, Nodes(3), 100, "high,low");
  const JobId first = SubmitFor(world, Nodes(2), 20, "low");
  world.Schedule();
  const Time by = world.state.FindJob(first)->promised;
  ASSERT_GT(by, world.now + std::chrono::minutes(100));
  const Plan plan = world.MakePlanNow();
  const auto shown = std::find_if(plan.reservations.begin(), plan.reservations.end(),
                                  [&](const auto& kept) { return kept.job == first; });
  ASSERT_NE(shown, plan.reservations.end());
  EXPECT_LT(shown->start, world.now + std::chrono::minutes(15)) << "when the second job is over";
}

TEST(KeptPlaces, OthersPlacesMakeWayForTheFirstAsFarAsTheirPromisesAllow) {
  Playing run = Prompt({{.cores = 4}, {.cores = 4}, {.cores = 4}});
  run.config.prompt.slack = std::chrono::seconds(3000);
  run.Submit(Nodes(1), 100);
  run.Submit(Nodes(1), 100);
  run.Submit(Nodes(1), 1000);
  run.RunCycle();
  run.Submit(Nodes(1), 9000);
  run.RunCycle();
  run.Submit(Nodes(2), 8000);
  run.RunDry();
  EXPECT_EQ(run.Of(5).started, After(100)) << "the place of job 4, from 3100 on, goes elsewhere";
  EXPECT_LE(run.Of(4).started, run.Of(4).by);
}

TEST(KeptPlaces, PromisesOutliveTheLossOfThePlaces) {
  Playing run = Prompt({{.cores = 4}, {.cores = 4}});
  run.config.prompt.slack = std::chrono::seconds(900);
  run.Submit(Nodes(1), 100);
  run.Submit(Nodes(2), 100);
  run.RunCycle();
  run.ForgetPlaces();
  run.Submit(Nodes(1), 3000);
  run.RunCycle();
  run.RunDry();
  EXPECT_LE(run.Of(2).started, After(100 + 900));
}

TEST(KeptPlaces, AreNoMoreThanTheSettingsAllow) {
  Playing run = Prompt({{.cores = 4}});
  run.config.prompt.promises = 2;
  run.Submit(Nodes(1), 1000);
  for (int i = 0; i < 5; ++i) {
    run.Submit(Nodes(1), 100);
  }
  run.RunCycle();
  ASSERT_EQ(run.plan().promises.size(), 2U);
  EXPECT_EQ(run.Of(2).started, After(0));
  EXPECT_EQ(run.plan().promises[0].job, JobId(1)) << "those that came first";
  EXPECT_EQ(run.plan().promises[1].job, JobId(3));
  run.RunDry();
  EXPECT_TRUE(run.Idle());
}

TEST(KeptPlaces, AJobWithoutALimitStartsOnAnIdleMachineThoughOneWithoutAPlaceIsBeforeIt) {
  Playing run = Prompt({{.cores = 4}, {.cores = 4}});
  run.config.prompt.promises = 1;
  run.Submit(Nodes(2), 100);
  run.RunCycle();
  run.Submit(Nodes(1), 0);
  run.RunCycle();
  ASSERT_NE(run.Of(2).by, kNoTime);
  run.Submit(Nodes(2), 50);
  run.RunCycle();
  run.MoveTo(After(100));
  run.RunCycle();
  EXPECT_TRUE(run.Of(2).started == After(100) || run.Of(3).started == After(100));
}

TEST(KeptPlaces, JobsWithoutLimitsDoNotOvertakeAWideOneForEver) {
  Playing run = Prompt({{.cores = 4}, {.cores = 4}});
  run.Submit(Nodes(1), 0, 1000);
  run.Submit(Nodes(1), 0, 100);
  run.RunCycle();
  run.Submit(Nodes(2), 0, 10);
  run.RunCycle();
  run.Submit(Nodes(1), 0, 5000);
  run.RunCycle();
  run.Advance();
  run.RunCycle();
  EXPECT_EQ(run.Of(4).started, kNoTime);
  run.RunDry();
  EXPECT_EQ(run.Of(3).started, After(1000));
}

TEST(KeptPlaces, AClockThatIsSetBackOrForwardLeavesNobodyWaiting) {
  Playing run = Prompt({{.cores = 4}, {.cores = 4}});
  run.MoveTo(After(100'000));
  run.Submit(Nodes(2), 600, 60);
  run.Submit(Nodes(2), 500);
  run.RunCycle();
  run.MoveTo(After(1000));
  run.Submit(Nodes(1), 50);
  run.Submit(Nodes(2), 900);
  run.RunCycle();
  run.MoveTo(After(500'000));
  run.Submit(Nodes(1), 100);
  run.RunDry();
  EXPECT_TRUE(run.Idle());
  for (std::uint64_t job = 1; job <= 5; ++job) {
    EXPECT_NE(run.Of(job).started, kNoTime) << job;
  }
}

TEST(KeptPlaces, TheOlderOrderPromisesNothing) {
  Playing run(std::vector<testing::Shape>{{.cores = 4}});
  run.Submit(Nodes(1), 1000);
  run.Submit(Nodes(1), 100);
  run.RunCycle();
  EXPECT_TRUE(run.plan().promises.empty());
}

// A random cluster, on which jobs arrive while others run; many end before their limits.
Playing RandomLife() {
  const auto nodes = *rc::gen::inRange<std::size_t>(1, 4);
  std::vector<testing::Shape> shapes;
  for (std::size_t i = 0; i < nodes; ++i) {
    shapes.push_back({.cores = *rc::gen::inRange(1U, 5U), .gpus = *rc::gen::inRange(0U, 3U)});
  }
  Playing run = Prompt(shapes);
  run.config.prompt.slack = std::chrono::seconds(*rc::gen::inRange(0, 4000));
  run.config.prompt.patience = std::chrono::seconds(*rc::gen::inRange(0, 4000));
  run.config.prompt.promises = *rc::gen::inRange(0U, 12U);
  const auto jobs = *rc::gen::inRange(1, 14);
  std::int64_t now = 0;
  for (int i = 0; i < jobs; ++i) {
    ResourceRequest request = Tasks(*rc::gen::inRange(1U, 5U), *rc::gen::inRange(1U, 3U));
    if (*rc::gen::inRange(0, 3) == 0) {
      request.gpus_per_task.count = 1;
    }
    if (*rc::gen::inRange(0, 3) == 0) {
      request.min_nodes = request.tasks;
    }
    const auto limit = *rc::gen::inRange<std::int64_t>(1, 3000);
    if (*rc::gen::inRange(0, 5) == 0) {
      run.SubmitTogether({request, Tasks(1)}, limit);
    } else {
      run.Submit(request, limit, *rc::gen::inRange<std::int64_t>(0, limit + 1));
    }
    run.RunCycle();
    const auto until = now + *rc::gen::inRange<std::int64_t>(0, 800);
    while (run.Advance(After(until))) {
      run.RunCycle();
    }
    now = until;
    run.MoveTo(After(now));
    run.RunCycle();
  }
  return run;
}

RC_GTEST_PROP(KeptPlacesProperty, NoPromiseIsBrokenGivenTrueLimits, ()) {
  Playing run = RandomLife();
  run.RunDry();
  for (const auto& [job, record] : run.records()) {
    if (record.by != kNoTime) {
      RC_ASSERT(record.started != kNoTime);
      RC_ASSERT(record.started <= record.by);
    }
  }
}

RC_GTEST_PROP(KeptPlacesProperty, PromisesOutliveTheLossOfAllPlaces, ()) {
  Playing run = RandomLife();
  run.ForgetPlaces();
  run.RunCycle();
  run.RunDry();
  for (const auto& [job, record] : run.records()) {
    if (record.by != kNoTime) {
      RC_ASSERT(record.started != kNoTime);
      RC_ASSERT(record.started <= record.by);
    }
  }
}

RC_GTEST_PROP(KeptPlacesProperty, WhoWritesShortLimitsTakesNoMoreThanOneSlackFromAnother, ()) {
  const auto nodes = *rc::gen::inRange<std::size_t>(1, 4);
  Playing run = Prompt(std::vector<testing::Shape>(nodes, {.cores = 4}));
  const auto slack = *rc::gen::inRange<std::int64_t>(0, 3000);
  run.config.prompt.slack = std::chrono::seconds(slack);
  run.config.prompt.patience = std::chrono::hours(1000);
  const auto busy = *rc::gen::inRange<std::int64_t>(1, 2000);
  run.Submit(Nodes(static_cast<std::uint32_t>(nodes)), busy);
  run.RunCycle();
  run.Submit(Nodes(*rc::gen::inRange(1U, static_cast<std::uint32_t>(nodes) + 1)), 500);
  run.RunCycle();
  const Time honest = run.Of(2).by;
  RC_ASSERT(honest == After(busy + slack));
  // He is killed at each limit and submits the same again.
  const auto tries = *rc::gen::inRange(1, 30);
  for (int i = 0; i < tries; ++i) {
    run.Submit(Nodes(1), *rc::gen::inRange<std::int64_t>(1, 300));
    run.RunCycle();
    run.Advance();
    run.RunCycle();
  }
  run.RunDry();
  RC_ASSERT(run.Of(2).started <= honest);
}

}  // namespace
}  // namespace muster::core
