// Schedules as tables: written, read back, audited, compared, measured.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "scheduler/simulator/flat/processor_map.h"
#include "scheduler/simulator/schedule/schedule_audit.h"
#include "scheduler/simulator/schedule/schedule_check.h"
#include "scheduler/simulator/schedule/schedule_csv.h"
#include "scheduler/simulator/schedule/schedule_metrics.h"
#include "tests/unit/scheduler/runtime/temp_directory.h"

namespace muster::sim {
namespace {

using ::testing::HasSubstr;

ScheduleRow Row(std::int64_t id, std::int64_t start, std::int64_t run, const std::string& where) {
  ScheduleRow row;
  row.job_id = id;
  row.submission_time = 3;
  row.requested_resources = 2;
  row.requested_time = 50;
  row.starting_time = start;
  row.execution_time = run;
  row.allocated_resources = where;
  row.reason = "head";
  return row;
}

class Schedule : public ::testing::Test {
 protected:
  std::string Write(const std::string& text) {
    const std::string path = directory_ / "jobs.csv";
    std::ofstream(path, std::ios::trunc) << text;
    return path;
  }
  std::string Write(const std::vector<ScheduleRow>& rows) {
    std::string text = ScheduleHeader();
    for (const ScheduleRow& row : rows) {
      AppendRow(row, &text);
    }
    return Write(text);
  }
  // The first violation; "" when the schedule is legal.
  std::string Audited(const std::vector<ScheduleRow>& rows) {
    const absl::StatusOr<AuditReport> report = AuditSchedule(Write(rows), 4);
    EXPECT_TRUE(report.ok()) << report.status();
    EXPECT_EQ(report->jobs, rows.size());
    EXPECT_EQ(report->violations == 0, report->first.empty());
    return report->first;
  }

  TempDirectory directory_;
};

TEST_F(Schedule, IsWrittenWithTheColumnsOfBatsim) {
  std::string text = ScheduleHeader();
  AppendRow(Row(7, 10, 6, "0-1"), &text);
  EXPECT_EQ(text,
            "job_id,submission_time,requested_number_of_resources,requested_time,success,"
            "starting_time,execution_time,finish_time,waiting_time,turnaround_time,stretch,"
            "allocated_resources,gpus,nodes,reason,promised_start,earlier_attempts\n"
            "7,3,2,50,1,10,6,16,7,13,2.1666666666666665,0-1,0,,head,,\n");
}

TEST_F(Schedule, TheAuditAcceptsWhatIsLegal) {
  std::vector<ScheduleRow> rows = {Row(1, 3, 10, "0-1"), Row(2, 3, 10, "2 3"),
                                   Row(3, 13, 10, "1-2")};
  rows[2].promised_start = 13;
  EXPECT_EQ(Audited(rows), "");
}

TEST_F(Schedule, TheAuditFindsEachWayToBreakTheRules) {
  EXPECT_EQ(Audited({Row(1, 3, 10, "0-1"), Row(2, 12, 5, "1-2")}),
            "jobs 1 and 2 both ran on processor 1 at 12");
  EXPECT_EQ(Audited({Row(1, 2, 10, "0-1")}), "job 1 started at 2, before its submission at 3");
  EXPECT_EQ(Audited({Row(1, 3, 51, "0-1")}), "job 1 ran for 51 s and had asked for 50 s");
  EXPECT_EQ(Audited({Row(1, 3, 10, "0-2")}), "job 1 ran on 3 processors and had asked for 2");
  EXPECT_THAT(Audited({Row(1, 3, 10, "3-4")}), HasSubstr("and the machine has 0-3"));
  EXPECT_THAT(Audited({Row(1, 3, 10, "")}), HasSubstr("ran on 0 processors"));
  EXPECT_EQ(Audited({Row(1, 3, 10, "0-1"), Row(1, 13, 10, "0-1")}), "job 1 is there twice");
  ScheduleRow late = Row(1, 20, 10, "0-1");
  late.promised_start = 19;
  EXPECT_EQ(Audited({late}), "job 1 started at 20 and had been promised 19");
}

TEST_F(Schedule, TheAuditJudgesEarlierAttemptsLikeTheLast) {
  ScheduleRow again = Row(1, 30, 10, "0-1");
  again.earlier_attempts = "3-10:0-1;12-20:2-3";
  EXPECT_EQ(Audited({again}), "");
  EXPECT_EQ(Audited({again, Row(2, 13, 5, "1-2")}), "jobs 1 and 2 both ran on processor 2 at 13");
  again.earlier_attempts = "3-10:0-1;9-20:2-3";
  EXPECT_THAT(Audited({again}), HasSubstr("before the one before it ended"));
  again.earlier_attempts = "2-10:0-1";
  EXPECT_THAT(Audited({again}), HasSubstr("an attempt from 2 to 10"));
  again.earlier_attempts = "3-31:0-1";
  EXPECT_THAT(Audited({again}), HasSubstr("before its earlier attempt ended at 31"));
  again.earlier_attempts = "3-10:0-2";
  EXPECT_EQ(Audited({again}), "job 1 ran on 3 processors and had asked for 2");
  again.earlier_attempts = "3-10 0-1";
  EXPECT_THAT(Audited({again}), HasSubstr("cannot be read"));
}

TEST_F(Schedule, TheAuditTrustsNoColumnThatFollowsFromOthers) {
  std::string text = ScheduleHeader();
  AppendRow(Row(7, 10, 6, "0-1"), &text);
  const std::size_t finish = text.find(",16,7,13,");
  text.replace(finish, 4, ",15,");
  EXPECT_THAT(AuditSchedule(Write(text), 4)->first, HasSubstr("does not end when"));
}

TEST_F(Schedule, APartialTableSaysSo) {
  std::string text = ScheduleHeader();
  AppendRow(Row(7, 10, 6, "0-1"), &text);
  EXPECT_FALSE(AuditSchedule(Write(text), 4)->partial);
  EXPECT_TRUE(AuditSchedule(Write(text + "# partial: stopped at 16\n"), 4)->partial);
}

TEST_F(Schedule, ATableThatIsNoneIsRefused) {
  EXPECT_THAT(std::string(AuditSchedule(Write("a,b\n1,2\n"), 4).status().message()),
              HasSubstr("jobs.csv:1: there is no column job_id"));
  EXPECT_THAT(std::string(AuditSchedule(Write(ScheduleHeader() + "1,2\n"), 4).status().message()),
              HasSubstr("jobs.csv:2: 2 columns where the first line names 17"));
}

TEST_F(Schedule, IsComparedJobByJobWithATableInAnyOrderOfColumns) {
  absl::StatusOr<ScheduleCheck> check =
      ScheduleCheck::Open(Write("starting_time,job_id\n10.0,1\n20,2\n30,4\n"));
  ASSERT_TRUE(check.ok()) << check.status();
  check->Compare(Row(1, 10, 5, ""));
  check->Compare(Row(2, 21, 5, ""));
  check->Compare(Row(3, 10, 5, ""));
  const CheckReport report = check->Finish();
  EXPECT_EQ(report.compared, 2U);
  EXPECT_EQ(report.different, 1U);
  EXPECT_EQ(report.only_here, 1U);
  EXPECT_EQ(report.only_there, 1U);
  EXPECT_FALSE(report.same());
  EXPECT_THAT(report.examples, ::testing::ElementsAre("job 2 starts at 21, there at 20",
                                                      "job 3 is not in the other schedule",
                                                      "job 4 is only in the other schedule"));
}

TEST_F(Schedule, IsComparedWithAWorkloadWhoseJobsStartAfterTheirWait) {
  absl::StatusOr<ScheduleCheck> check =
      ScheduleCheck::Open(Write("; x\n1 3 7 5 2 -1 -1 2 50 -1 1 1 1 1 1 1 -1 -1\n"));
  ASSERT_TRUE(check.ok()) << check.status();
  check->Compare(Row(1, 10, 5, ""));
  EXPECT_TRUE(check->Finish().same());
}

double Value(const std::vector<Metric>& metrics, const std::string& name) {
  for (const Metric& metric : metrics) {
    if (metric.name == name) {
      return metric.value;
    }
  }
  ADD_FAILURE() << name;
  return 0;
}

TEST(Metrics, FollowTheirDefinitions) {
  ScheduleMetrics metrics;
  for (std::int64_t i = 0; i < 20; ++i) {  // waits of 0, 1, … 19 s; 5 s on two processors each
    metrics.Add(Row(i, 3 + i, 5, "0-1"));
  }
  const std::vector<Metric> values = metrics.Compute(4);
  EXPECT_EQ(Value(values, "mean_waiting_time"), 9.5);
  EXPECT_EQ(Value(values, "median_waiting_time"), 9.5);
  EXPECT_EQ(Value(values, "p95_waiting_time"), 18);
  EXPECT_EQ(Value(values, "max_waiting_time"), 19);
  EXPECT_EQ(Value(values, "max_bounded_slowdown"), 2.4);
  EXPECT_EQ(Value(values, "median_bounded_slowdown"), (1.4 + 1.5) / 2);
  EXPECT_EQ(Value(values, "max_stretch"), 24.0 / 5);
  EXPECT_EQ(Value(values, "makespan"), 24);
  EXPECT_DOUBLE_EQ(Value(values, "utilisation"), 20 * 2 * 5 / (4.0 * 24));
}

TEST(Metrics, NobodyIsFasterThanABoundedSlowdownOfOne) {
  ScheduleMetrics metrics;
  metrics.Add(Row(1, 3, 2, "0-1"));
  EXPECT_EQ(Value(metrics.Compute(4), "mean_bounded_slowdown"), 1);
}

TEST(Metrics, FairnessIsOfUsersNotOfJobs) {
  ScheduleMetrics metrics;
  ScheduleRow row;
  row.requested_resources = 1;
  row.execution_time = 10;
  for (row.job_id = 1; row.job_id <= 3; ++row.job_id) {
    metrics.Add(row);
  }
  row.user = 5;
  row.starting_time = 30;
  metrics.Add(row);
  const std::vector<UserMetrics> users = metrics.Users();
  ASSERT_EQ(users.size(), 2U);
  EXPECT_EQ(users[1].user, 5);
  EXPECT_EQ(users[1].longest, 30);
  EXPECT_EQ(users[1].mean_slowdown(), 4);
  for (const Metric& metric : metrics.Compute(4)) {
    if (std::string(metric.name) == "gini_user_waiting_time") {
      EXPECT_EQ(metric.value, 0.5) << "one of two waits alone";
    }
    if (std::string(metric.name) == "jain_user_bounded_slowdown") {
      EXPECT_DOUBLE_EQ(metric.value, 25.0 / (2 * 17));
    }
  }
}

TEST(Metrics, GiniAndJainKnowTheirExtremes) {
  std::vector<double> alike = {3, 3, 3};
  EXPECT_EQ(GiniCoefficient(alike), 0);
  EXPECT_DOUBLE_EQ(JainIndex(alike), 1);
  std::vector<double> alone = {0, 8, 0, 0};
  EXPECT_DOUBLE_EQ(GiniCoefficient(alone), 0.75);
  EXPECT_DOUBLE_EQ(JainIndex(alone), 0.25);
  std::vector<double> zeros = {0, 0};
  EXPECT_EQ(GiniCoefficient(zeros), 0);
  std::vector<double> none;
  EXPECT_EQ(GiniCoefficient(none), 0);
  EXPECT_EQ(JainIndex(none), 1);
}

TEST(ProcessorMap, GivesTheLowestAndTakesThemBack) {
  ProcessorMap map(8);
  const ProcessorRanges first = map.Take(3);
  const ProcessorRanges second = map.Take(2);
  map.Give(first);
  std::string text;
  AppendRanges(map.Take(5), &text);
  EXPECT_EQ(text, "0-2 5-6");
  map.Give(second);
  text.clear();
  AppendRanges(map.Take(3), &text);
  EXPECT_EQ(text, "3-4 7");
}

}  // namespace
}  // namespace muster::sim
