#include "cli/report/report_tally.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

namespace muster::cli {
namespace {

using std::chrono::hours;
using std::chrono::minutes;

Time At(int hour) {
  return Time(hours(1000 + hour));
}

ReportKeys By(std::vector<ReportBy> by) {
  ReportKeys keys;
  keys.by = std::move(by);
  return keys;
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
                               By({ReportBy::kUser}), {At(0), At(10)});
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[0].names[0], "cleo");
  EXPECT_DOUBLE_EQ(rows[0].gpu_seconds, 3600);
  EXPECT_EQ(rows[1].names[0], "ben");
  EXPECT_DOUBLE_EQ(rows[1].cpu_seconds, 2 * 3 * 3600);
  EXPECT_EQ(rows[2].names[0], "ann");
  EXPECT_EQ(rows[2].jobs, 2U);
}

TEST(ReportTallyTest, OnlyWhatLiesInTheWindowCounts) {
  JobView runs = JobOf("ann", 3, 0, 1);
  runs.end_time = kNoTime;
  runs.state = "RUNNING";
  const auto rows =
      TallyUsage({JobOf("ann", 0, 4, 1), JobOf("ann", 7, 9), JobOf("ann", 0, 2), runs},
                 By({ReportBy::kUser}), {At(2), At(6)});
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].jobs, 2U);
  EXPECT_DOUBLE_EQ(rows[0].cpu_seconds, (2 + 3) * 3600);
}

TEST(ReportTallyTest, AJobThatWasCancelledHasNotFailed) {
  std::vector<JobView> jobs(4, JobOf("ann", 0, 1));
  jobs[1].state = "CANCELLED";
  jobs[2].state = "TIMEOUT";
  jobs[3].state = "RUNNING";
  EXPECT_EQ(TallyUsage(jobs, By({ReportBy::kAccount}), {At(0), At(2)})[0].failed, 1U);
}

TEST(ReportTallyTest, AJobThatLiesHalfInTheWindowWorkedThereHalfOfWhatItDid) {
  JobView job = JobOf("ann", 0, 2, 1);
  job.usage.user_cpu = minutes(60);
  job.usage.peak_memory = kMebibyte;
  const auto rows = TallyUsage({job}, By({ReportBy::kUser}), {At(1), At(5)});
  EXPECT_DOUBLE_EQ(rows[0].measured_cpu_seconds, 3600);
  EXPECT_DOUBLE_EQ(rows[0].worked_cpu_seconds, 1800);
}

AttemptUse AttemptOf(int start, int end, std::uint32_t cpus, std::uint64_t cost) {
  AttemptUse attempt;
  attempt.start_time = At(start);
  attempt.end_time = At(end);
  attempt.cpus = cpus;
  attempt.cost = Cost(cost * kCostUnit);
  return attempt;
}

TEST(ReportTallyTest, EachAttemptCountsWithWhatItHeld) {
  JobView job = JobOf("ann", 10, 12, 8);
  job.attempts = {AttemptOf(0, 2, 4, 1), AttemptOf(10, 12, 8, 5)};
  job.currency = "EUR";
  const auto rows = TallyUsage({job}, By({ReportBy::kUser}), {At(0), At(20)});
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].jobs, 1U);
  EXPECT_DOUBLE_EQ(rows[0].cpu_seconds, (2 * 4 + 2 * 8) * 3600);
  EXPECT_DOUBLE_EQ(rows[0].cost, 6);
  EXPECT_EQ(rows[0].currency, "EUR");
  EXPECT_TRUE(TallyUsage({job}, By({ReportBy::kUser}), {At(3), At(9)}).empty()) << "between them";
  const auto load = TallyLoad({job}, {}, By({}), {At(0), At(12)}, hours(4));
  ASSERT_EQ(load.size(), 3U);
  EXPECT_DOUBLE_EQ(load[0].cpu_seconds, 2 * 4 * 3600);
  EXPECT_DOUBLE_EQ(load[1].cpu_seconds, 0);
  EXPECT_DOUBLE_EQ(load[2].cpu_seconds, 2 * 8 * 3600);
  const auto sizes = TallySizes({job}, By({}), {At(0), At(20)});
  ASSERT_EQ(sizes.size(), 1U);
  EXPECT_DOUBLE_EQ(sizes[0].used.cpu_seconds, (2 * 4 + 2 * 8) * 3600);
  EXPECT_EQ(sizes[0].median, hours(4));
}

TEST(ReportTallyTest, OfAPeriodCountsThePartOfTheCostThatLiesInIt) {
  JobView job = JobOf("ann", 0, 4);
  job.attempts = {AttemptOf(0, 4, 2, 8)};
  const auto rows = TallyUsage({job}, By({ReportBy::kUser}), {At(1), At(2)});
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_DOUBLE_EQ(rows[0].cost, 2);
  EXPECT_EQ(rows[0].failed, 0U);
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
  const auto rows = TallyWaits(jobs, By({ReportBy::kUser}), {At(0), At(3)});
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].names[0], "ann");
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
      TallyLoad({half, JobOf("ben", 1, 9)}, {node}, By({}), {At(0), At(2) + minutes(30)}, hours(1));
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

TEST(ReportTallyTest, OfAMonthCountsWhatLiesInIt) {
  // 1970-02-01 is hour 744; it begins an hour later in the zone of the report.
  JobView job = JobOf("ann", 0, 0, 1);
  job.start_time = Time(hours(742));
  job.end_time = Time(hours(750));
  job.state = "FAILED";
  job.node_count = 1;
  ReportKeys keys = By({ReportBy::kMonth, ReportBy::kUser});
  keys.zone = absl::FixedTimeZone(-3600);
  const auto rows = TallyUsage({job}, keys, {Time(hours(0)), Time(hours(2000))});
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].names, (GroupNames{"1970-01", "ann"}));
  EXPECT_DOUBLE_EQ(rows[0].cpu_seconds, 3 * 3600);
  EXPECT_EQ(rows[0].failed, 0U);
  EXPECT_EQ(rows[1].names, (GroupNames{"1970-02", "ann"}));
  EXPECT_DOUBLE_EQ(rows[1].node_seconds, 5 * 3600);
  EXPECT_EQ(rows[1].failed, 1U);
  const auto waits = TallyWaits({job}, keys, {Time(hours(0)), Time(hours(2000))});
  ASSERT_EQ(waits.size(), 1U);
  EXPECT_EQ(waits[0].names, (GroupNames{"1970-01", "ann"}));
}

TEST(ReportTallyTest, DaysComeInTheirOrder) {
  const auto rows = TallyUsage({JobOf("ann", 0, 80), JobOf("ben", 0, 10, 64)}, By({ReportBy::kDay}),
                               {At(0), At(60)});
  ASSERT_EQ(rows.size(), 4U);
  EXPECT_EQ(rows[0].names[0], "1970-02-11");
  EXPECT_EQ(rows[3].names[0], "1970-02-14");
  double seconds = 0;
  for (const UsageRow& row : rows) {
    seconds += row.cpu_seconds;
  }
  EXPECT_DOUBLE_EQ(seconds, (60 * 2 + 10 * 64) * 3600);
}

TEST(ReportTallyTest, KeysAreKnownAndNoneTwice) {
  EXPECT_EQ(*ReadReportKeys("user,month"),
            (std::vector<ReportBy>{ReportBy::kUser, ReportBy::kMonth}));
  for (const char* word : {"account", "user", "partition", "qos", "name", "month", "day"}) {
    EXPECT_STREQ(Name(ReadReportKeys(word)->front()), word);
  }
  for (const char* words : {"", "user,", "user,user", "User"}) {
    EXPECT_FALSE(ReadReportKeys(words).has_value()) << words;
  }
}

TEST(ReportTallyTest, SizesDouble) {
  std::vector<JobView> jobs;
  for (const std::uint32_t cpus : {1, 2, 3, 4, 5, 64}) {
    jobs.push_back(JobOf("ann", 0, 1, cpus));
  }
  jobs.push_back(JobOf("ann", 0, 3, 8));
  jobs.back().gpus = 1;
  const auto rows = TallySizes(jobs, By({}), {At(0), At(10)});
  ASSERT_EQ(rows.size(), 6U);
  EXPECT_EQ(rows[2].least, 3U);
  EXPECT_EQ(rows[2].most, 4U);
  EXPECT_EQ(rows[2].used.jobs, 2U);
  EXPECT_EQ(rows[3].least, 5U);
  EXPECT_FALSE(rows[4].gpus);
  EXPECT_EQ(rows[4].least, 33U);
  EXPECT_TRUE(rows[5].gpus);
  EXPECT_EQ(rows[5].median, hours(3));
  EXPECT_DOUBLE_EQ(rows[5].used.cpu_seconds, 8 * 3 * 3600);
}

TEST(ReportTallyTest, EnergyIsSharedEvenlyOverTheJobsTime) {
  JobView job = JobOf("ann", 0, 4, 1);
  job.usage.user_cpu = minutes(60);
  job.usage.peak_memory = kMebibyte;
  job.usage.gpu_energy_mj = 8'000'000;
  const auto rows = TallyUsage({job}, By({ReportBy::kUser}), {At(1), At(2)});
  EXPECT_DOUBLE_EQ(rows[0].joules.value_or(0), 2000);
}

TEST(ReportTallyTest, EnergyThatNobodyMeasuredIsNotKnown) {
  JobView measured = JobOf("ann", 0, 4);
  measured.usage.cpu_energy_mj = 4'000'000;
  JobView other = JobOf("ben", 0, 4);
  other.usage.user_cpu = minutes(60);
  other.usage.peak_memory = kMebibyte;
  const auto rows =
      TallyUsage({measured, JobOf("ann", 0, 4), other}, By({ReportBy::kUser}), {At(0), At(4)});
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].joules, 4000) << "of the one that was";
  EXPECT_EQ(rows[1].joules, std::nullopt);
}

TEST(ReportTallyTest, SizesAndLoadAreOfGroupsWhereKeysSaySo) {
  const std::vector<JobView> jobs = {JobOf("ann", 0, 2, 4), JobOf("ben", 0, 1, 4),
                                     JobOf("ann", 0, 1, 1)};
  const auto sizes = TallySizes(jobs, By({ReportBy::kUser}), {At(0), At(2)});
  ASSERT_EQ(sizes.size(), 3U);
  EXPECT_EQ(sizes[0].used.names[0], "ann");
  EXPECT_EQ(sizes[0].most, 1U);
  EXPECT_EQ(sizes[1].most, 4U);
  EXPECT_DOUBLE_EQ(sizes[1].used.cpu_seconds, 4 * 2 * 3600);
  EXPECT_EQ(sizes[2].used.names[0], "ben");
  NodeView node;
  node.cpus = 16;
  const auto load = TallyLoad(jobs, {node}, By({ReportBy::kUser}), {At(0), At(2)}, hours(1));
  ASSERT_EQ(load.size(), 3U) << "ben had nothing in the second hour";
  EXPECT_EQ(load[0].names[0], "ann");
  EXPECT_DOUBLE_EQ(load[0].cpu_seconds, 5 * 3600);
  EXPECT_DOUBLE_EQ(load[0].cpu_offered, 16 * 3600);
  EXPECT_EQ(load[1].names[0], "ben");
  EXPECT_EQ(load[2].names[0], "ann");
  EXPECT_EQ(load[2].period.start, At(1));
}

}  // namespace
}  // namespace muster::cli
