// sstat's rows: what is known stands in the row that it is about, and nowhere else.

#include "cli/slurm/live/stat_page.h"

#include <gtest/gtest.h>

#include "tests/unit/cli/slurm/recorded.h"

namespace muster::cli::slurm {
namespace {

StepView Step(std::uint32_t number, const std::string& state, Time start) {
  StepView step;
  step.step = StepId(number);
  step.attempt = AttemptNumber(1);
  step.state = state;
  step.tasks = 2;
  step.nodes = "n1,n2";
  step.start_time = start;
  return step;
}

// A running job with a script on two nodes.
JobDetail Running() {
  JobDetail detail;
  detail.job.id = JobId(14);
  detail.job.array_job_id = JobId(14);
  detail.job.label = "14";
  detail.job.state = "RUNNING";
  detail.job.nodes = {"n1", "n2"};
  detail.attempts.resize(1);
  detail.attempts[0].number = AttemptNumber(1);
  detail.attempts[0].start_time = Time(Duration(1000));
  detail.steps = {Step(0, "COMPLETED", Time(Duration(1500))),
                  Step(1, "RUNNING", Time(Duration(2000)))};
  NodeUsage small{"n1", Time(Duration(9000)), {}};
  small.usage.user_cpu = Duration(30'000);
  small.usage.peak_memory = Bytes(1024 * 1024);
  NodeUsage large{"n2", Time(Duration(9000)), {}};
  large.usage.system_cpu = Duration(31'000);
  large.usage.peak_memory = Bytes(3 * 1024 * 1024);
  detail.live_usage = {small, large};
  return detail;
}

std::vector<std::vector<std::string>> Rows(const JobDetail& detail, const StatChoice& choice,
                                           const std::string& format) {
  return StatRows(detail, choice, ReadStatFormat(format).value(), {});
}
using Values = std::vector<std::vector<std::string>>;

TEST(StatPage, TheScriptsRowHasWhatAllOfTheJobUsed) {
  EXPECT_EQ(Rows(Running(), {.all = true}, "JobID,MaxRSS,MaxRSSNode,NTasks,TRESUsageInTot"),
            Values({{"14.batch", "3072K", "n2", "1", "cpu=00:01:01,mem=3072K"},
                    {"14.1", "", "", "2", ""}}));
}

TEST(StatPage, TheFirstRunningStepIsShownByItself) {
  EXPECT_EQ(Rows(Running(), {}, "JobID,NTasks,Nodelist"), Values({{"14.1", "2", "n[1-2]"}}));
  EXPECT_EQ(Rows(Running(), {.has_step = true, .step = StepId(0)}, "JobID"), Values());
  EXPECT_EQ(Rows(Running(), {.batch = true}, "JobID"), Values({{"14.batch"}}));
}

TEST(StatPage, TheOnlyStepOfAJobWithoutAScriptHasItsFigures) {
  JobDetail detail = Running();
  detail.steps = {Step(1, "RUNNING", detail.attempts[0].start_time)};
  EXPECT_EQ(Rows(detail, {.all = true}, "JobID,MaxRSS,AveCPU"),
            Values({{"14.1", "3072K", "00:00:30"}}));
}

TEST(StatPage, AJobThatWaitsHasNoRows) {
  JobDetail detail = Running();
  detail.job.state = "PENDING";
  detail.steps.clear();
  EXPECT_EQ(Rows(detail, {.all = true}, "JobID"), Values());
}

TEST(StatPage, HasSlurmsFieldsAndColumns) {
  EXPECT_EQ(StatFieldHelp(), recorded::Of("people", "sstat -e").out);
  std::vector<PageColumn> columns;
  const std::vector<StatColumn> usual = ReadStatFormat(kStatFormat).value();
  for (const StatColumn& column : usual) {
    columns.push_back({column.name, column.width});
  }
  EXPECT_EQ(PageHead(columns, {}), recorded::Of("people", "sstat -j 14").out);
  EXPECT_EQ(ReadStatFormat("JobID,nosuch").status().message(), "nosuch");
}

}  // namespace
}  // namespace muster::cli::slurm
