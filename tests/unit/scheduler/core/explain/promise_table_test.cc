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
