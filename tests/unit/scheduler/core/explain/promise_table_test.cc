#include "scheduler/core/explain/promise_table.h"

#include <gtest/gtest.h>

#include "tests/unit/scheduler/core/builders.h"

namespace muster::core {
namespace {

using testing::At;

Plan Promises(std::uint64_t job, std::int64_t start) {
  Plan plan;
  plan.reservations.push_back({JobId(job), At(start), {}});
  return plan;
}

AttemptStarted Started(std::uint64_t job, std::int64_t time) {
  AttemptStarted start;
  start.job = JobId(job);
  start.time = At(time);
  return start;
}

TEST(PromiseTable, AStartIsHeldAgainstItsFirstAndItsLastPromise) {
  PromiseTable table;
  table.Plan(Promises(1, 100), At(0));
  table.Plan(Promises(1, 140), At(50));
  table.Plan(Promises(2, 60), At(50));
  table.Apply(Started(2, 40));
  table.Apply(Started(1, 141));
  table.Apply(Started(3, 141));  // nobody had promised it anything
  const PromiseReport report = table.Report();
  EXPECT_EQ(report.starts, 2U);
  EXPECT_EQ(report.first.held, 1U);
  EXPECT_EQ(report.last.held, 2U) << "a second late is in time";
  EXPECT_DOUBLE_EQ(report.first.error_s, (41 + 20) / 2.0);
  EXPECT_DOUBLE_EQ(report.last.error_s, (1 + 20) / 2.0);
  EXPECT_DOUBLE_EQ(report.promised_wait_s, (100 + 10) / 2.0);
  EXPECT_EQ(report.worst, JobId(1));
  EXPECT_DOUBLE_EQ(report.worst_s, 41);
}

TEST(PromiseTable, AJobThatEndsWithoutAStartCountsNot) {
  PromiseTable table;
  table.Plan(Promises(1, 100), At(0));
  JobEnded end;
  end.job = JobId(1);
  table.Apply(end);
  table.Apply(Started(1, 10));
  EXPECT_EQ(table.Report().starts, 0U);
  EXPECT_FALSE(table.Report().worst.valid());
}

TEST(PromiseTable, ElementsThatEndTogetherAreAllForgotten) {
  PromiseTable table;
  for (std::uint64_t job = 1; job <= 4; ++job) {
    table.Plan(Promises(job, 100), At(0));
  }
  JobEnded end;
  end.job = JobId(2);
  end.more = 1;
  table.Apply(end);
  for (std::uint64_t job = 1; job <= 4; ++job) {
    table.Apply(Started(job, 50));
  }
  EXPECT_EQ(table.Report().starts, 2U);
}

TEST(PromiseTable, AJobThatIsHeldOrChangedHasNoPromiseUntilTheNext) {
  PromiseTable table;
  table.Plan(Promises(1, 100), At(0));
  table.Plan(Promises(2, 100), At(0));
  table.Plan(Promises(3, 100), At(0));
  JobHeld held;
  held.job = JobId(1);
  held.held = true;
  table.Apply(held);
  JobUpdated updated;
  updated.job = JobId(2);
  table.Apply(updated);
  table.Apply(Started(1, 500));
  table.Plan(Promises(2, 600), At(200));
  table.Apply(Started(2, 600));
  table.Apply(Started(3, 500));
  const PromiseReport report = table.Report();
  EXPECT_EQ(report.starts, 2U);
  EXPECT_EQ(report.first.held, 1U) << "the changed job, by its new promise";
  EXPECT_EQ(report.worst, JobId(3));
}

TEST(PromiseTable, TheLatestStartThatTheJournalSaysIsAPromise) {
  PromiseTable table;
  table.Apply(StartPromised{JobId(1), At(100), At(0)});
  table.Apply(StartPromised{JobId(1), At(80), At(50)});  // made tighter with age
  table.Apply(Started(1, 90));
  const PromiseReport report = table.Report();
  EXPECT_EQ(report.starts, 1U);
  EXPECT_EQ(report.first.held, 1U);
  EXPECT_EQ(report.last.held, 0U);
  EXPECT_DOUBLE_EQ(report.promised_wait_s, 100);
}

}  // namespace
}  // namespace muster::core
