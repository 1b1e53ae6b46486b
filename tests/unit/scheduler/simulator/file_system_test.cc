// Checkpoints that share a file system.

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "scheduler/simulator/cluster/checkpointed_run.h"
#include "scheduler/simulator/cluster/cluster_simulation.h"
#include "scheduler/simulator/cluster/shared_file_system.h"
#include "scheduler/simulator/schedule/schedule_audit.h"
#include "scheduler/simulator/schedule/schedule_csv.h"
#include "tests/unit/scheduler/runtime/temp_directory.h"
#include "tests/unit/scheduler/simulator/rows.h"

namespace muster::sim {
namespace {

using testing::Rows;

void ExpectSame(const AttemptParts& a, const AttemptParts& b) {
  RC_ASSERT(a.restart == b.restart);
  RC_ASSERT(a.checkpoints == b.checkpoints);
  RC_ASSERT(a.saved == b.saved);
  RC_ASSERT(a.lost == b.lost);
}

TEST(CheckpointedRun, ByItselfHasThePartsOfTheFormulaAtEveryMoment) {
  const bool holds = rc::check([] {
    JobCheckpoints checkpoints;
    checkpoints.interval = *rc::gen::inRange<std::int64_t>(1, 30);
    checkpoints.cost = *rc::gen::inRange<std::int64_t>(1, 10);
    checkpoints.restart = *rc::gen::inRange<std::int64_t>(0, 10);
    const auto work = *rc::gen::inRange<std::int64_t>(1, 200);
    const auto again = *rc::gen::arbitrary<bool>();
    CheckpointedRun run(checkpoints, work, again);
    std::int64_t writing = 0;
    std::int64_t time = 0;
    while (run.stage() != CheckpointedRun::Stage::kDone) {
      ExpectSame(run.Parts(), PartsOf(checkpoints, work, again, time));
      run.Advance(1);
      ++time;
      if (run.stage() == CheckpointedRun::Stage::kWrite && ++writing == checkpoints.cost) {
        run.EndWrite();
      } else if (run.WantsToWrite()) {
        run.BeginWrite();
        writing = 0;
      }
    }
    RC_ASSERT(time == AttemptTime(checkpoints, work, again));
    ExpectSame(run.Parts(), PartsOf(checkpoints, work, again, time));
  });
  EXPECT_TRUE(holds);
}

TEST(CheckpointedRun, WorkGoesOnUntilItsTurnAndIsAllSavedThen) {
  CheckpointedRun run({.interval = 10, .cost = 1}, 100, false);
  run.Advance(10);
  EXPECT_TRUE(run.WantsToWrite());
  EXPECT_EQ(run.UntilDue(), 90) << "nothing but its end";
  run.Advance(7);
  run.BeginWrite();
  EXPECT_EQ(run.Parts().lost, 17);
  run.Advance(3);
  run.EndWrite();
  EXPECT_EQ(run.Parts().saved, 17);
  EXPECT_EQ(run.Parts().checkpoints, 3);
  EXPECT_EQ(run.UntilDue(), 10);
}

TEST(SharedFileSystem, IsSharedEvenlyAndWhatANodeCannotSendGoesToTheOthers) {
  SharedFileSystem files({.bandwidth = 100, .per_node = 20});
  files.Ask(JobId(1), 200, 1, 0);
  files.Ask(JobId(2), 800, 8, 0);
  EXPECT_TRUE(files.Admit().has_value());
  EXPECT_TRUE(files.Admit().has_value());
  EXPECT_FALSE(files.Admit().has_value());
  EXPECT_EQ(files.NextDone(), std::pair(SharedFileSystem::Tick{10}, JobId(1)));
  files.Advance(10);
  EXPECT_EQ(files.NextDone(), std::pair(SharedFileSystem::Tick{10}, JobId(1)));
  files.Leave(JobId(1));
  EXPECT_EQ(files.NextDone(), std::pair(SharedFileSystem::Tick{10}, JobId(2))) << "80 in 10 s";
}

TEST(SharedFileSystem, TurnsGoToThoseWhoWouldLoseMost) {
  SharedFileSystem files({.bandwidth = 10, .per_node = 0, .writers = 1});
  files.Ask(JobId(1), 100, 1, 5);
  files.Ask(JobId(2), 100, 1, 50);
  files.Ask(JobId(3), 100, 1, 50);
  EXPECT_EQ(files.Admit(), JobId(2));
  EXPECT_EQ(files.Admit(), std::nullopt);
  files.Advance(10);
  files.Leave(JobId(2));
  EXPECT_EQ(files.Admit(), JobId(3));
  files.Leave(JobId(1));  // it waits no more
  files.Leave(JobId(3));
  EXPECT_EQ(files.Admit(), std::nullopt);
  EXPECT_EQ(files.NextDone().first, SharedFileSystem::kNever);
}

// Whoever comes and goes: what all have written by a time is at most the bandwidth times it, and
// as much, but for rounding, while one of them can take it all.
TEST(SharedFileSystem, WritesAsMuchAsItsBandwidthAndNoMore) {
  const bool holds = rc::check([] {
    const auto bandwidth = *rc::gen::inRange<std::int64_t>(50, 1000);
    SharedFileSystem files(
        {.bandwidth = bandwidth, .per_node = 0, .writers = *rc::gen::inRange<std::uint32_t>(0, 4)});
    const auto jobs = *rc::gen::inRange<std::uint64_t>(1, 8);
    std::int64_t bytes = 0;
    for (std::uint64_t job = 1; job <= jobs; ++job) {
      const auto size = *rc::gen::inRange<std::int64_t>(1, 100'000);
      files.Ask(JobId(job), size, 1, *rc::gen::inRange<std::int64_t>(0, 9));
      bytes += size;
    }
    std::uint64_t done = 0;
    SharedFileSystem::Tick now = 0;
    while (done < jobs) {
      while (files.Admit().has_value()) {
      }
      const auto [time, job] = files.NextDone();
      RC_ASSERT(time >= now && time < SharedFileSystem::kNever);
      now = time;
      files.Advance(now);
      files.Leave(job);
      ++done;
    }
    const auto count = static_cast<std::int64_t>(jobs);
    RC_ASSERT(now * bandwidth >= bytes);
    // Each change of shares rounds a share down and an end up.
    RC_ASSERT((now - count) * (bandwidth - count) <= bytes);
  });
  EXPECT_TRUE(holds);
}

class FileSystemTest : public ::testing::Test {
 protected:
  // `jobs` of a node of two threads each, all at once.
  ClusterRun Run(int jobs, std::int64_t seconds) {
    std::string text;
    for (int id = 1; id <= jobs; ++id) {
      absl::StrAppend(&text, id, " 0 -1 ", seconds, " -1 -1 -1 2 ", seconds,
                      " -1 1 1 1 1 1 -1 -1 -1\n");
    }
    const std::string path = directory_ / "log.swf";
    std::ofstream(path, std::ios::trunc) << text;
    ClusterRun run;
    run.trace = path;
    NodeClass alike;
    alike.count = static_cast<std::uint32_t>(jobs);
    alike.machine = PlainMachine(2, 0, "", Bytes());
    run.nodes.push_back(std::move(alike));
    return run;
  }

  AuditReport Audit(const Rows& rows, std::int64_t processors) {
    std::ofstream(directory_ / "jobs.csv", std::ios::trunc) << rows.table;
    const auto report = AuditSchedule(directory_ / "jobs.csv", processors);
    EXPECT_TRUE(report.ok()) << report.status();
    return report.ok() ? *report : AuditReport();
  }

  TempDirectory directory_;
};

TEST_F(FileSystemTest, JobsThatWriteAloneTakeWhatTheirCostSays) {
  for (const double mtbf : {0.0, 400.0}) {
    ClusterRun by_cost = Run(1, 1000);
    by_cost.nodes.front().failures.mtbf_s = mtbf;
    by_cost.checkpoints = {.interval = 100, .cost = 20, .restart = 5};
    ClusterRun by_size = by_cost;
    by_size.checkpoints.cost = 0;
    by_size.checkpoints.size = 1000;  // twice: of each thread
    by_size.file_system.bandwidth = 100;
    Rows a;
    Rows b;
    ASSERT_TRUE(SimulateCluster(by_cost, a).ok());
    const auto result = SimulateCluster(by_size, b);
    ASSERT_TRUE(result.ok()) << result.status();
    EXPECT_EQ(a.table, b.table);
    EXPECT_EQ(result->failures.shared, 0);
  }
}

// Four write together for 80 s, or one after the other for 20 s each, while the others work on.
TEST_F(FileSystemTest, TurnsSaveWhatSharingCosts) {
  ClusterRun run = Run(4, 1000);
  run.checkpoints = {.interval = 300, .cost = 0, .restart = 0, .size = 1000};
  run.file_system.bandwidth = 100;
  Rows together;
  const auto shared = SimulateCluster(run, together);
  ASSERT_TRUE(shared.ok()) << shared.status();
  EXPECT_EQ(together.rows.at(1).execution_time, 1000 + 3 * 80);
  EXPECT_DOUBLE_EQ(shared->failures.checkpoints, 4 * 2 * 3 * 80.0);
  EXPECT_DOUBLE_EQ(shared->failures.shared, 4 * 2 * 3 * 60.0);
  const auto audit = Audit(together, 8);
  EXPECT_EQ(audit.violations, 0U) << "the limit does not count it: " << audit.first;
  run.file_system.writers = 1;
  Rows in_turn;
  const auto turns = SimulateCluster(run, in_turn);
  ASSERT_TRUE(turns.ok()) << turns.status();
  EXPECT_EQ(turns->failures.shared, 0);
  for (int job = 1; job <= 4; ++job) {
    EXPECT_EQ(in_turn.rows.at(job).execution_time, 1000 + 3 * 20) << job;
  }
}

}  // namespace
}  // namespace muster::sim
