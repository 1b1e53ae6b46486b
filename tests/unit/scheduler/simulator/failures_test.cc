// Nodes that fail, jobs that begin again, and what checkpoints save of them.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "scheduler/simulator/cluster/cluster_simulation.h"
#include "scheduler/simulator/schedule/schedule_audit.h"
#include "scheduler/simulator/schedule/schedule_csv.h"
#include "scheduler/simulator/workload/failure_log.h"
#include "tests/unit/scheduler/runtime/temp_directory.h"
#include "tests/unit/scheduler/simulator/rows.h"

namespace muster::sim {
namespace {

using testing::Rows;

using ::testing::HasSubstr;

class Failures : public ::testing::Test {
 protected:
  std::string Write(const std::string& name, const std::string& text) {
    std::ofstream(directory_ / name, std::ios::trunc) << text;
    return directory_ / name;
  }
  // Nodes n1, n2, … of that many threads.
  static ClusterRun Alike(std::uint32_t nodes, std::uint32_t cpus) {
    ClusterRun run;
    NodeClass alike;
    alike.count = nodes;
    alike.machine = PlainMachine(cpus, 0, "none", Bytes());
    run.nodes.push_back(std::move(alike));
    return run;
  }
  static std::string JobLine(std::int64_t id, std::int64_t submit, std::int64_t run,
                             std::int64_t processors) {
    return absl::StrCat(id, " ", submit, " -1 ", run, " -1 -1 -1 ", processors, " ", run,
                        " -1 1 1 1 1 1 -1 -1 -1\n");
  }
  AuditReport Audited(const Rows& rows, std::int64_t processors) {
    const auto audit = AuditSchedule(Write("jobs.csv", rows.table), processors);
    return audit.ok() ? *audit : AuditReport{.violations = 1, .first = "cannot be read"};
  }

  TempDirectory directory_;
};

TEST_F(Failures, TheSameSeedGivesTheSameFailuresAndAnotherOthers) {
  const auto first = [](std::uint64_t seed, std::size_t nodes) {
    NodeFailures failures(seed);
    for (std::size_t i = 0; i < nodes; ++i) {
      failures.AddNode({.mtbf_s = 1000, .repair_s = 10}, 0);
    }
    std::string text;
    for (int i = 0; i < 50; ++i) {
      const NodeFailure next = *failures.Peek();
      absl::StrAppend(&text, next.time, ":", next.node, " ");
      failures.Pop();
    }
    return text;
  };
  EXPECT_EQ(first(1, 5), first(1, 5));
  EXPECT_NE(first(1, 5), first(2, 5));
}

// Means within five standard errors; of 40,000 draws of a Weibull law of shape 0.7 (whose deviation
// is 1.46 means) 3.7 %.
TEST_F(Failures, NodesLastAndAreAwayAsLongAsTheLawSaysOnAverage) {
  for (const double shape : {1.0, 0.7, 2.0}) {
    NodeFailures failures(7);
    failures.AddNode({.mtbf_s = 50'000, .shape = shape, .repair_s = 300, .repair_differs = true},
                     0);
    double up = 0;
    double away = 0;
    std::int64_t back = 0;
    constexpr int kDraws = 40'000;
    for (int i = 0; i < kDraws; ++i) {
      const NodeFailure next = *failures.Peek();
      EXPECT_GE(next.time, back);
      up += static_cast<double>(next.time - back);
      away += static_cast<double>(next.repair);
      back = next.time + next.repair;
      failures.Pop();
    }
    EXPECT_NEAR(up / kDraws / 50'000, 1, 0.037) << shape;
    EXPECT_NEAR(away / kDraws / 300, 1, 0.025) << shape;
  }
}

// Of a Weibull law the share 1 - 1/e fails before the scale, whatever the shape.
TEST_F(Failures, TheShapeIsWeibulls) {
  NodeFailures failures(3);
  failures.AddNode({.mtbf_s = 100'000, .shape = 0.7}, 0);
  const double scale = 100'000 / std::tgamma(1 + 1 / 0.7);
  int before = 0;
  int early = 0;  // before a tenth of the scale: 1 - exp(-0.1^0.7) = 0.1809
  std::int64_t last = 0;
  for (int i = 0; i < 40'000; ++i) {
    const NodeFailure next = *failures.Peek();
    before += static_cast<double>(next.time - last) < scale ? 1 : 0;
    early += static_cast<double>(next.time - last) < scale / 10 ? 1 : 0;
    last = next.time;
    failures.Pop();
  }
  EXPECT_NEAR(before / 40'000.0, 1 - std::exp(-1.0), 0.0125);
  EXPECT_NEAR(early / 40'000.0, 1 - std::exp(-std::pow(0.1, 0.7)), 0.0100);
}

TEST_F(Failures, ThePartsOfAnAttemptAddUpAndAWholeOneSavesAllOfIt) {
  EXPECT_TRUE(rc::check([] {
    const JobCheckpoints checkpoints{.interval = *rc::gen::inRange<std::int64_t>(0, 20),
                                     .cost = *rc::gen::inRange<std::int64_t>(0, 9),
                                     .restart = *rc::gen::inRange<std::int64_t>(0, 9)};
    const auto work = *rc::gen::inRange<std::int64_t>(1, 200);
    const bool again = *rc::gen::arbitrary<bool>();
    const std::int64_t whole = AttemptTime(checkpoints, work, again);
    std::int64_t saved_before = 0;
    for (std::int64_t time = 0; time <= whole; ++time) {
      const AttemptParts parts = PartsOf(checkpoints, work, again, time);
      RC_ASSERT(parts.restart + parts.checkpoints + parts.saved + parts.lost == time);
      RC_ASSERT(parts.lost >= 0 && parts.checkpoints >= 0);
      RC_ASSERT(parts.saved >= saved_before);
      RC_ASSERT(time < whole || (parts.saved == work && parts.lost == 0));
      RC_ASSERT(time == whole || parts.saved < work);
      saved_before = parts.saved;
    }
  }));
}

TEST_F(Failures, WithoutCheckpointsAJobBeginsAgainFromNothingOnceItsNodeIsRepaired) {
  ClusterRun run = Alike(1, 2);
  run.trace = Write("log.swf", JobLine(1, 0, 100, 2));
  run.failure_log = {{30, "n1", 20}};
  Rows rows;
  const auto result = SimulateCluster(run, rows);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(rows.rows.at(1).starting_time, 50);
  EXPECT_EQ(rows.rows.at(1).execution_time, 100);
  EXPECT_EQ(rows.rows.at(1).earlier_attempts, "0-30:0-1");
  EXPECT_TRUE(rows.rows.at(1).success);
  EXPECT_EQ(result->failures.attempts, 1U);
  EXPECT_EQ(result->failures.lost, 60);
  EXPECT_EQ(result->failures.useful, 200);
  EXPECT_EQ(result->failures.away, 40);
  const AuditReport audit = Audited(rows, 2);
  EXPECT_EQ(audit.violations, 0U) << audit.first;
  EXPECT_EQ(audit.restarts, 1U);
}

// 10 s of work, 1 s of checkpoint: at 47 s four are written and 3 s of work are not in one. Then 5
// s of restart, and 60 s of work with five more.
TEST_F(Failures, AJobGoesOnFromItsLastWholeCheckpoint) {
  ClusterRun run = Alike(1, 2);
  run.trace = Write("log.swf", JobLine(1, 0, 100, 2));
  run.failure_log = {{47, "n1", 3}};
  run.checkpoints = {.interval = 10, .cost = 1, .restart = 5};
  Rows rows;
  const auto result = SimulateCluster(run, rows);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(rows.rows.at(1).starting_time, 50);
  EXPECT_EQ(rows.rows.at(1).execution_time, 5 + 60 + 5);
  EXPECT_EQ(rows.rows.at(1).requested_time, 5 + 100 + 9);
  EXPECT_EQ(result->failures.lost, 2 * 3);
  EXPECT_EQ(result->failures.checkpoints, 2 * 9);
  EXPECT_EQ(result->failures.restart, 2 * 5);
  EXPECT_EQ(result->failures.useful, 2 * 100);
  EXPECT_EQ(result->failures.held, 2 * (47 + 70));
}

TEST_F(Failures, OnlyJobsOnTheFailedNodeEndAndNothingStartsThereUntilItIsRepaired) {
  ClusterRun run = Alike(3, 1);
  run.trace =
      Write("log.swf", JobLine(1, 0, 100, 2) + JobLine(2, 0, 100, 1) + JobLine(3, 20, 10, 1));
  run.failure_log = {{10, "n2", 50}};
  Rows rows;
  const auto result = SimulateCluster(run, rows);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(rows.rows.at(1).starting_time, 60);  // it needs two nodes, and job 2 has the third
  EXPECT_EQ(rows.rows.at(2).starting_time, 0);
  EXPECT_EQ(rows.rows.at(2).earlier_attempts, "");
  EXPECT_EQ(rows.rows.at(3).starting_time, 20);
  EXPECT_EQ(rows.rows.at(3).allocated_resources, "0");
  EXPECT_EQ(result->failures.attempts, 1U);
}

TEST_F(Failures, AJobThatIsHitTooOftenIsReleasedAndEnds) {
  ClusterRun run = Alike(1, 1);
  run.config.requeues_max = 2;
  run.trace = Write("log.swf", JobLine(1, 0, 100, 1));
  run.failure_log = {{10, "n1", 0}, {20, "n1", 0}, {30, "n1", 0}, {40, "n1", 0}};
  Rows rows;
  const auto result = SimulateCluster(run, rows);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(rows.rows.at(1).starting_time, 40);
  EXPECT_EQ(result->failures.attempts, 4U);
  EXPECT_EQ(result->failures.released, 2U);
}

TEST_F(Failures, OfALogWhatCannotHappenIsIgnoredAndAnUnknownNodeIsAnError) {
  ClusterRun run = Alike(1, 1);
  run.trace = Write("log.swf", JobLine(1, 50, 100, 1));
  run.failure_log = {{20, "n1", 5}, {60, "n1", 30}, {70, "n1", 5}};
  Rows rows;
  const auto result = SimulateCluster(run, rows);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->failures.failures, 1U);
  EXPECT_EQ(result->failures.ignored, 2U);
  run.failure_log = {{60, "n2", 30}};
  EXPECT_TRUE(absl::StrContains(std::string(SimulateCluster(run, rows).status().message()),
                                "names the node n2"));
}

TEST_F(Failures, AJobThatCanNeverEndIsAnErrorAndNotASimulationWithoutEnd) {
  ClusterRun run = Alike(1, 1);
  run.trace = Write("log.swf", JobLine(1, 0, 1'000'000, 1));
  run.nodes[0].failures.mtbf_s = 10;
  Rows rows;
  EXPECT_TRUE(absl::StrContains(std::string(SimulateCluster(run, rows).status().message()),
                                "job 1 was begun again 100000 times"));
}

TEST_F(Failures, TheLogIsReadStrictly) {
  const auto read = ReadFailureLog(Write("f.csv", "time,node,repair\n30,n1,20\n 7 , gpu-3 ,0\n"));
  ASSERT_TRUE(read.ok()) << read.status();
  ASSERT_EQ(read->size(), 2U);
  EXPECT_EQ((*read)[1].time, 7);
  EXPECT_EQ((*read)[1].node, "gpu-3");
  for (const std::string line : {"1,n1", "x,n1,2", "1,,2", "-1,n1,2", "1,n1,-2", "1,n1,2,3", ""}) {
    const auto bad = ReadFailureLog(Write("f.csv", "time,node,repair\n1,n1,2\n" + line + "\n"));
    EXPECT_THAT(std::string(bad.status().message()), HasSubstr("f.csv:3: ")) << line;
  }
  EXPECT_FALSE(ReadFailureLog(Write("f.csv", "30,n1,20\n")).ok());
}

// True when an attempt like "10-25:0-3" went on through the outage, on nodes of `cpus` threads.
bool MeetsOutage(const std::string& attempt, std::int64_t cpus, const NodeFailure& outage) {
  const auto pair_of = [](const std::string& text) {
    const std::vector<std::string> ends = absl::StrSplit(text, '-');
    std::pair<std::int64_t, std::int64_t> pair;
    EXPECT_TRUE(absl::SimpleAtoi(ends.front(), &pair.first) &&
                absl::SimpleAtoi(ends.back(), &pair.second));
    return pair;
  };
  const std::vector<std::string> halves = absl::StrSplit(attempt, ':');
  const auto [start, finish] = pair_of(halves[0]);
  const bool then = start < outage.time + outage.repair && finish > outage.time;
  const auto node = static_cast<std::int64_t>(outage.node);
  const std::vector<std::string> ranges = absl::StrSplit(halves[1], ' ');
  return then && std::any_of(ranges.begin(), ranges.end(), [&](const std::string& range) {
           const auto [first, last] = pair_of(range);
           return first / cpus <= node && node <= last / cpus;
         });
}

// Judged by a second sequence of the same failures, which nothing of the schedule touched.
bool SparesOutages(const ClusterRun& run, std::int64_t cpus, const Rows& rows) {
  std::vector<std::string> attempts;
  std::int64_t first = std::numeric_limits<std::int64_t>::max();
  std::int64_t last = 0;
  for (const auto& [id, row] : rows.rows) {
    first = std::min(first, row.submission_time);
    last = std::max(last, row.finish_time());
    attempts.push_back(
        absl::StrCat(row.starting_time, "-", row.finish_time(), ":", row.allocated_resources));
    if (!row.earlier_attempts.empty()) {
      const std::vector<std::string> earlier = absl::StrSplit(row.earlier_attempts, ';');
      attempts.insert(attempts.end(), earlier.begin(), earlier.end());
    }
  }
  NodeFailures failures(run.seed);
  for (std::uint32_t i = 0; i < run.nodes[0].count; ++i) {
    failures.AddNode(run.nodes[0].failures, first);
  }
  for (; failures.Peek()->time < last; failures.Pop()) {
    const NodeFailure outage = *failures.Peek();
    if (std::any_of(attempts.begin(), attempts.end(), [&](const std::string& attempt) {
          return MeetsOutage(attempt, cpus, outage);
        })) {
      return false;
    }
  }
  return true;
}

TEST_F(Failures, EveryScheduleIsLegalSparesNodesUnderRepairAndComesOutTheSameAgain) {
  EXPECT_TRUE(rc::check([this] {
    const auto nodes = *rc::gen::inRange<std::uint32_t>(1, 5);
    const auto cpus = *rc::gen::inRange<std::uint32_t>(1, 4);
    ClusterRun run = Alike(nodes, cpus);
    std::string trace;
    double work = 0;  // of all jobs
    const auto jobs = *rc::gen::inRange<std::int64_t>(1, 15);
    for (std::int64_t id = 1; id <= jobs; ++id) {
      const auto time = *rc::gen::inRange<std::int64_t>(1, 120);
      const auto processors = *rc::gen::inRange<std::int64_t>(1, nodes * cpus + 1);
      trace += JobLine(id, id * *rc::gen::inRange<std::int64_t>(0, 20), time, processors);
      work += static_cast<double>(time * processors);
    }
    run.trace = Write("log.swf", trace);
    run.seed = *rc::gen::inRange<std::uint64_t>(0, 1000);
    run.config.backfill = *rc::gen::element(Backfill::kNone, Backfill::kEasy,
                                            Backfill::kConservative, Backfill::kHybrid);
    run.nodes[0].failures = {.mtbf_s = *rc::gen::element(300.0, 3000.0),
                             .shape = *rc::gen::element(0.7, 1.0),
                             .repair_s = *rc::gen::element(0.0, 7.0, 60.0),
                             .repair_differs = *rc::gen::arbitrary<bool>()};
    run.checkpoints.interval = *rc::gen::element<std::int64_t>(0, 10, 25);
    if (run.checkpoints.interval > 0) {
      run.checkpoints.cost = *rc::gen::inRange<std::int64_t>(0, 4);
      run.checkpoints.restart = *rc::gen::inRange<std::int64_t>(0, 4);
    }
    Rows rows;
    const auto result = SimulateCluster(run, rows);
    RC_ASSERT(result.ok());
    RC_ASSERT(result->schedule.ended == static_cast<std::uint64_t>(jobs));
    const AuditReport audit = Audited(rows, std::int64_t{nodes} * cpus);
    RC_ASSERT(audit.violations == 0U);
    RC_ASSERT(audit.restarts <= result->failures.attempts);
    const FailureTotals& totals = result->failures;
    RC_ASSERT(totals.held == totals.useful + totals.lost + totals.checkpoints + totals.restart);
    RC_ASSERT(totals.useful == work);
    RC_ASSERT(SparesOutages(run, cpus, rows));
    Rows again;
    RC_ASSERT(SimulateCluster(run, again).ok());
    RC_ASSERT(again.table == rows.table);
  }));
}

}  // namespace
}  // namespace muster::sim
