#include "cli/report/report_tally.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::cli {
namespace {

using std::chrono::hours;
using std::chrono::minutes;

Time At(int hour) {
  return Time(hours(1000 + hour));
}

JobView JobOf(const std::string& user, int start, int end, std::uint32_t cpus = 2) {
  JobView job;
  job.user = user;
  job.account = "physics";
  job.state = "COMPLETED";
  job.submit_time = At(start) - minutes(10);
  job.start_time = At(start);
  job.end_time = At(end);
  job.cpus = cpus;
  return job;
}

TEST(ReportTallyTest, GroupsComeByWhatTheyUsed) {
  JobView gpus = JobOf("cleo", 0, 1);
  gpus.gpus = 1;
  const auto rows = TallyUsage({JobOf("ann", 0, 1), JobOf("ben", 0, 3), gpus, JobOf("ann", 1, 2)},
                               ReportBy::kUser, {At(0), At(10)});
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[0].name, "cleo");
  EXPECT_DOUBLE_EQ(rows[0].gpu_seconds, 3600);
  EXPECT_EQ(rows[1].name, "ben");
  EXPECT_DOUBLE_EQ(rows[1].cpu_seconds, 2 * 3 * 3600);
  EXPECT_EQ(rows[2].name, "ann");
  EXPECT_EQ(rows[2].jobs, 2U);
}

TEST(ReportTallyTest, OnlyWhatLiesInTheWindowCounts) {
  JobView runs = JobOf("ann", 3, 0, 1);
  runs.end_time = kNoTime;
  runs.state = "RUNNING";
  const auto rows =
      TallyUsage({JobOf("ann", 0, 4, 1), JobOf("ann", 7, 9), JobOf("ann", 0, 2), runs},
                 ReportBy::kUser, {At(2), At(6)});
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].jobs, 2U);
  EXPECT_DOUBLE_EQ(rows[0].cpu_seconds, (2 + 3) * 3600);
}

TEST(ReportTallyTest, AJobThatWasCancelledHasNotFailed) {
  std::vector<JobView> jobs(4, JobOf("ann", 0, 1));
  jobs[1].state = "CANCELLED";
  jobs[2].state = "TIMEOUT";
  jobs[3].state = "RUNNING";
  EXPECT_EQ(TallyUsage(jobs, ReportBy::kAccount, {At(0), At(2)})[0].failed, 1U);
}

TEST(ReportTallyTest, AJobThatLiesHalfInTheWindowWorkedThereHalfOfWhatItDid) {
  JobView job = JobOf("ann", 0, 2, 1);
  job.usage.user_cpu = minutes(60);
  job.usage.peak_memory = kMebibyte;
  const auto rows = TallyUsage({job}, ReportBy::kUser, {At(1), At(5)});
  EXPECT_DOUBLE_EQ(rows[0].measured_cpu_seconds, 3600);
  EXPECT_DOUBLE_EQ(rows[0].worked_cpu_seconds, 1800);
}

TEST(ReportTallyTest, WaitsAreRankedAndCountFromWhenAJobMightBegin) {
  std::vector<JobView> jobs;
  for (int i = 1; i <= 100; ++i) {
    jobs.push_back(JobOf("ann", 1, 2));
    jobs.back().submit_time = At(1) - minutes(i);
  }
  jobs.push_back(JobOf("ben", 1, 2));
  jobs.back().begin_time = At(1) - minutes(1);
  jobs.push_back(JobOf("ben", 9, 10));  // starts later
  const auto rows = TallyWaits(jobs, ReportBy::kUser, {At(0), At(3)});
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].name, "ann");
  EXPECT_EQ(rows[0].median, minutes(50));
  EXPECT_EQ(rows[0].p90, minutes(90));
  EXPECT_EQ(rows[0].p99, minutes(99));
  EXPECT_EQ(rows[0].longest, minutes(100));
  EXPECT_EQ(rows[1].jobs, 1U);
  EXPECT_EQ(rows[1].median, minutes(1));
}

TEST(ReportTallyTest, APeriodHasItsPartOfEachJob) {
  NodeView node;
  node.cpus = 4;
  JobView half = JobOf("ann", 0, 0);
  half.start_time = At(0) + minutes(30);
  half.end_time = At(1) + minutes(30);
  const auto rows =
      TallyLoad({half, JobOf("ben", 1, 9)}, {node}, {At(0), At(2) + minutes(30)}, hours(1));
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_DOUBLE_EQ(rows[0].cpu_offered, 4 * 3600);
  EXPECT_DOUBLE_EQ(rows[0].cpu_seconds, 3600);
  EXPECT_DOUBLE_EQ(rows[0].jobs, 0.5);
  EXPECT_DOUBLE_EQ(rows[1].cpu_seconds, 3600 + 7200);
  EXPECT_DOUBLE_EQ(rows[1].jobs, 1.5);
  EXPECT_DOUBLE_EQ(rows[2].cpu_offered, 4 * 1800);
  EXPECT_DOUBLE_EQ(rows[2].cpu_seconds, 3600);
  EXPECT_DOUBLE_EQ(rows[2].jobs, 1);
}

TEST(ReportTallyTest, TheWordsOfByAreRead) {
  for (const char* word : {"account", "user", "partition", "qos", "name"}) {
    EXPECT_STREQ(Name(*ReadReportBy(word)), word);
  }
  EXPECT_FALSE(ReadReportBy("User").has_value());
}

}  // namespace
}  // namespace muster::cli
