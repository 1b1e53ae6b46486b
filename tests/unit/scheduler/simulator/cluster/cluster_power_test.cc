// Nodes of simulated clusters that are switched off while nobody needs them.

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "scheduler/simulator/cluster/cluster_simulation.h"
#include "scheduler/simulator/cluster/power_replay.h"
#include "scheduler/simulator/decision_log.h"
#include "tests/unit/scheduler/runtime/temp_directory.h"
#include "tests/unit/scheduler/simulator/rows.h"

namespace muster::sim {
namespace {

using std::chrono::seconds;
using testing::Rows;

struct Line {
  std::int64_t submit = 0;
  std::int64_t run = 0;
  std::int64_t processors = 1;
  std::int64_t requested = 0;
};

class ClusterPowerTest : public ::testing::Test {
 protected:
  std::string Write(const std::vector<Line>& jobs) {
    std::string text;
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      const Line& job = jobs[i];
      absl::StrAppend(&text, i + 1, " ", job.submit, " -1 ", job.run, " -1 -1 -1 ", job.processors,
                      " ", job.requested == 0 ? job.run : job.requested,
                      " -1 1 1 1 1 1 -1 -1 -1\n");
    }
    std::ofstream(directory_ / "log.swf", std::ios::trunc) << text;
    return directory_ / "log.swf";
  }

  ClusterRun Run(std::uint32_t nodes, const std::vector<Line>& jobs, bool power = true) {
    ClusterRun run;
    NodeClass alike;
    alike.count = nodes;
    alike.machine = PlainMachine(1, 0, "", Bytes());
    run.nodes.push_back(std::move(alike));
    run.trace = Write(jobs);
    if (power) {
      PowerClass kind;
      kind.name = "all";
      kind.nodes = "ALL";
      kind.idle = seconds(600);
      kind.suspend_time = seconds(30);
      kind.boot_time = seconds(120);
      kind.busy_watts = 300;
      kind.idle_watts = 100;
      kind.off_watts = 10;
      run.config.power.push_back(kind);
    }
    return run;
  }

  static ClusterResult Simulate(const ClusterRun& run, Rows& rows) {
    auto result = SimulateCluster(run, rows);
    EXPECT_TRUE(result.ok()) << result.status();
    return result.ok() ? *std::move(result) : ClusterResult();
  }

  TempDirectory directory_;
};

TEST_F(ClusterPowerTest, AnIdleNodeIsSwitchedOffAndAJobThatComesThenWaitsForItToBoot) {
  Rows rows;
  const ClusterResult result =
      Simulate(Run(1, {{.submit = 0, .run = 100}, {.submit = 5000, .run = 100}}), rows);
  EXPECT_EQ(rows.rows.at(1).starting_time, 0);
  EXPECT_EQ(rows.rows.at(2).starting_time, 5120);
  ASSERT_TRUE(result.energy.has_value());
  EXPECT_EQ(result.energy->switched_off(), 1U);
  EXPECT_EQ(result.energy->boot_waits(), 1U);
  EXPECT_EQ(result.energy->longest_boot_wait(), 120);
  // 100 s busy, 600 s idle, 30 s down, until 5000 s off, 120 s up, 100 s busy.
  EXPECT_DOUBLE_EQ(result.energy->taken_kwh() * 3.6e6,
                   100 * 300 + 600 * 100 + 30 * 300 + (5000 - 730) * 10 + 120 * 300 + 100 * 300);
  EXPECT_DOUBLE_EQ(result.energy->always_on_kwh() * 3.6e6, 200 * 300 + 5020 * 100);
}

TEST(PowerReplay, ASwitchTakesAsLongAsTheClassSaysAndAStartOnAFreshNodeIsAWait) {
  SchedulerConfig config;
  config.power.resize(1);
  config.power.front().nodes = "n1";
  PowerReplay power(config);
  power.AddNode(NodeId(1), "n1", 4, 0);
  power.Begin({NodeId(1), false}, 1000);
  EXPECT_EQ(power.Next(), 1030);
  EXPECT_FALSE(power.NextDone(1029).has_value());
  EXPECT_FALSE(power.NextDone(1030)->on);
  power.Begin({NodeId(1), true}, 2000);
  EXPECT_TRUE(power.NextDone(2120)->on);
  EXPECT_EQ(power.Next(), PowerReplay::kNever);
  power.NoteStart(2050, {0});
  power.NoteStart(2050, {0});
  EXPECT_EQ(power.Energy(3000).boot_waits(), 1U);
  EXPECT_EQ(power.Energy(3000).longest_boot_wait(), 70);
  EXPECT_FALSE(PowerReplay(SchedulerConfig()).on());
}

TEST_F(ClusterPowerTest, AJobThatComesWhileItsNodeShutsDownWaitsForThatToo) {
  Rows rows;
  const ClusterResult result =
      Simulate(Run(1, {{.submit = 0, .run = 100}, {.submit = 710, .run = 100}}), rows);
  EXPECT_EQ(rows.rows.at(2).starting_time, 730 + 120);
  EXPECT_EQ(result.energy->longest_boot_wait(), 140);
}

TEST_F(ClusterPowerTest, AWishForANodeThatPassedIsNoWaitForItsLaterBoot) {
  // The second job wants the second node, which shuts down from 600 to 630, until the first ends
  // early at 620. The third needs both, from 5620 on: the boot begins 120 s before.
  Rows rows;
  const ClusterResult result = Simulate(Run(2, {{.submit = 0, .run = 620, .requested = 9000},
                                                {.submit = 610, .run = 5000},
                                                {.submit = 625, .run = 100, .processors = 2}}),
                                        rows);
  EXPECT_EQ(rows.rows.at(2).starting_time, 620);
  EXPECT_EQ(rows.rows.at(3).starting_time, 5620);
  EXPECT_EQ(result.energy->longest_boot_wait(), 120);
}

TEST_F(ClusterPowerTest, NothingWaitsWhereNodesAreKeptOn) {
  ClusterRun run = Run(2, {{.submit = 0, .run = 100}, {.submit = 5000, .run = 100}});
  run.config.power.front().keep_on = 1;
  Rows rows;
  const ClusterResult result = Simulate(run, rows);
  EXPECT_EQ(rows.rows.at(2).starting_time, 5000);
  EXPECT_EQ(result.energy->switched_off(), 1U);
  EXPECT_EQ(result.energy->boot_waits(), 0U);
}

TEST_F(ClusterPowerTest, AJobTakesTheNodeThatIsFreeSoonerRatherThanBootAnother) {
  // The first job ends at 1060, 60 s after the second came; a boot takes 120 s.
  Rows rows;
  const ClusterResult result =
      Simulate(Run(2, {{.submit = 0, .run = 1060}, {.submit = 1000, .run = 100}}), rows);
  EXPECT_EQ(rows.rows.at(2).starting_time, 1060);
  EXPECT_EQ(result.energy->boot_waits(), 0U);
}

TEST_F(ClusterPowerTest, ANodeIsBackByTheTimeAtWhichAWideJobGetsTheOthers) {
  // Two nodes are busy until 4000, the third is off from 630 on: the wide job waits for none of it.
  Rows rows;
  const ClusterResult result = Simulate(Run(3, {{.submit = 0, .run = 4000, .processors = 2},
                                                {.submit = 1000, .run = 100, .processors = 3}}),
                                        rows);
  EXPECT_EQ(rows.rows.at(2).starting_time, 4000);
  EXPECT_EQ(result.energy->switched_off(), 1U);
}

TEST_F(ClusterPowerTest, MoreJobsThanHavePlacesInThePlanWakeAsManyNodes) {
  ClusterRun run = Run(8, {{.submit = 0, .run = 10}});
  run.config.backfill = Backfill::kEasy;  // one place
  std::vector<Line> jobs = {{.submit = 0, .run = 10}};
  for (int i = 0; i < 8; ++i) {
    jobs.push_back({.submit = 5000, .run = 1000});
  }
  run.trace = Write(jobs);
  Rows rows;
  Simulate(run, rows);
  for (std::int64_t id = 2; id <= 9; ++id) {
    EXPECT_EQ(rows.rows.at(id).starting_time, 5120) << id;
  }
}

TEST_F(ClusterPowerTest, AJobThatFitsBeforeAnothersPlaceHasANodeSwitchedOnForIt) {
  // The first node is busy for long, and the second job waits for all three; the third fits before.
  ClusterRun run = Run(3, {{.submit = 0, .run = 90'000},
                           {.submit = 5000, .run = 100, .processors = 3},
                           {.submit = 5001, .run = 100}});
  run.config.backfill = Backfill::kEasy;
  Rows rows;
  Simulate(run, rows);
  EXPECT_EQ(rows.rows.at(3).starting_time, 5121);
  EXPECT_EQ(rows.rows.at(2).starting_time, 90'000);
}

std::vector<Line> AnyJobs(std::int64_t processors) {
  const auto count = *rc::gen::inRange<std::int64_t>(1, 20);
  std::vector<Line> jobs;
  std::int64_t submit = 0;
  for (std::int64_t id = 1; id <= count; ++id) {
    submit += *rc::gen::element<std::int64_t>(0, 3, 40, 700, 3000);
    Line job{.submit = submit};
    job.requested = *rc::gen::element<std::int64_t>(1, 50, 700, 4000);
    job.run = *rc::gen::inRange<std::int64_t>(1, job.requested + 1);
    job.processors = *rc::gen::inRange<std::int64_t>(1, processors + 1);
    jobs.push_back(job);
  }
  return jobs;
}

TEST_F(ClusterPowerTest, EveryJobEndsAndTheSameSeedsGiveTheSameResult) {
  const bool holds = rc::check([this] {
    const auto nodes = *rc::gen::inRange<std::uint32_t>(1, 6);
    const std::vector<Line> jobs = AnyJobs(nodes);
    ClusterRun run = Run(nodes, jobs);
    PowerClass& kind = run.config.power.front();
    kind.idle = seconds(*rc::gen::element(1, 60, 600));
    kind.boot_time = seconds(*rc::gen::element(1, 20, 120, 900));
    kind.resume_timeout = kind.boot_time + seconds(1);
    kind.suspend_time = seconds(*rc::gen::element(1, 30));
    kind.keep_on = *rc::gen::inRange(0U, 3U);
    kind.rate = *rc::gen::inRange(0U, 3U);
    run.config.priority.order = *rc::gen::element(QueueRule::kPriority, QueueRule::kPrompt);
    run.config.backfill = *rc::gen::element(Backfill::kNone, Backfill::kEasy,
                                            Backfill::kConservative, Backfill::kHybrid);
    Rows rows;
    const ClusterResult result = Simulate(run, rows);
    RC_ASSERT(result.schedule.ended == jobs.size());
    RC_ASSERT(result.energy->mean_boot_wait() <=
              static_cast<double>(result.energy->longest_boot_wait()));
    Rows again;
    const ClusterResult second = Simulate(run, again);
    RC_ASSERT(rows.table == again.table);
    RC_ASSERT(result.state_hash == second.state_hash);
    RC_ASSERT(result.energy->taken_kwh() == second.energy->taken_kwh());
  });
  EXPECT_TRUE(holds);
}

TEST_F(ClusterPowerTest, NodesThatAreNeverSwitchedOffGiveThePlansOfAClusterWithoutPower) {
  const bool holds = rc::check([this] {
    const auto nodes = *rc::gen::inRange<std::uint32_t>(1, 6);
    const std::vector<Line> jobs = AnyJobs(nodes);
    ClusterRun run = Run(nodes, jobs);
    run.config.power.front().keep_on = nodes;
    Rows with;
    const ClusterResult result = Simulate(run, with);
    Rows without;
    const ClusterResult plain = Simulate(Run(nodes, jobs, false), without);
    RC_ASSERT(with.table == without.table);
    // The state has the hash of the plan of each attempt.
    RC_ASSERT(result.state_hash == plain.state_hash);
    RC_ASSERT(result.cycles == plain.cycles);
    RC_ASSERT(!plain.energy.has_value());
  });
  EXPECT_TRUE(holds);
}

TEST_F(ClusterPowerTest, ARunThatGoesOnFromItsDecisionsEndsAsOneThatWasNeverStopped) {
  const std::vector<Line> jobs = {{.submit = 0, .run = 100},
                                  {.submit = 5000, .run = 100},
                                  {.submit = 5010, .run = 300, .processors = 2},
                                  {.submit = 9000, .run = 10},
                                  {.submit = 15000, .run = 10, .processors = 2},
                                  {.submit = 15001, .run = 10, .processors = 2},
                                  {.submit = 15002, .run = 10},
                                  {.submit = 15003, .run = 10}};
  ClusterRun run = Run(4, jobs);
  run.config.backfill = Backfill::kEasy;  // one place: the others ask without one
  Rows whole;
  const ClusterResult result = Simulate(run, whole);
  const std::string path = directory_ / "log.decisions";
  auto log = DecisionLog::Create(path, "the same");
  ASSERT_TRUE(log.ok()) << log.status();
  run.decisions = log->get();
  Rows first;
  Simulate(run, first);
  log->reset();
  log = DecisionLog::Resume(path, "the same");
  ASSERT_TRUE(log.ok()) << log.status();
  run.decisions = log->get();
  Rows resumed;
  const ClusterResult again = Simulate(run, resumed);
  EXPECT_EQ(whole.table, resumed.table);
  EXPECT_EQ(result.state_hash, again.state_hash);
}

}  // namespace
}  // namespace muster::sim
