#include "scheduler/simulator/report/drawn_jobs.h"

#include <gtest/gtest.h>

namespace muster::sim {
namespace {

TEST(DrawnJobs, AttemptsThatWereEndedStandBeforeTheLastAndWaitSinceTheOneBefore) {
  ScheduleRow row;
  row.job_id = 7;
  row.submission_time = 5;
  row.starting_time = 60;
  row.execution_time = 10;
  row.allocated_resources = "2-3";
  row.earlier_attempts = "10-25:0-3 7;40-52:0-4";
  row.reason = "head";
  DrawnJobs drawn;
  drawn.Add(row);
  ASSERT_EQ(drawn.jobs().size(), 3U);
  const DrawnJobs::Job& first = drawn.jobs()[0];
  EXPECT_TRUE(first.earlier);
  EXPECT_EQ(first.submit + first.wait, 10);
  EXPECT_EQ(first.run_time, 15);
  EXPECT_EQ(first.ranges, "0-3 7");
  EXPECT_EQ(first.since, 5);
  EXPECT_EQ(drawn.jobs()[1].since, 25);
  EXPECT_EQ(drawn.jobs()[1].run_time, 12);
  const DrawnJobs::Job& last = drawn.jobs()[2];
  EXPECT_FALSE(last.earlier);
  EXPECT_EQ(last.since, 52);
  EXPECT_EQ(last.wait, 55) << "from its submission, as the table has it";
}

TEST(DrawnJobs, AJobThatNothingEndedWaitsSinceItsSubmission) {
  ScheduleRow row;
  row.submission_time = 5;
  row.starting_time = 60;
  DrawnJobs drawn;
  drawn.Add(row);
  ASSERT_EQ(drawn.jobs().size(), 1U);
  EXPECT_EQ(drawn.jobs()[0].since, 5);
}

}  // namespace
}  // namespace muster::sim
