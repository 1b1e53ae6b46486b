// The steps that squeue --steps lists.

#include "cli/slurm/queue/step_page.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

namespace muster::cli::slurm {
namespace {

const Time kNow(std::chrono::hours(1000));

JobDetail Running() {
  JobDetail detail;
  detail.job.id = JobId(7);
  detail.job.array_job_id = JobId(7);
  detail.job.label = "7";
  detail.job.state = "RUNNING";
  detail.job.partition = "main";
  detail.job.user = "ada";
  detail.job.nodes = {"n1", "n2"};
  detail.job.start_time = kNow - std::chrono::minutes(5);
  detail.batch = true;
  StepView step;
  step.step = StepId(1);
  step.name = "train|er";
  step.state = "RUNNING";
  step.nodes = "n1,n2";
  step.start_time = kNow - std::chrono::seconds(61);
  detail.steps.push_back(step);
  step.step = StepId(2);
  step.state = "COMPLETED";
  detail.steps.push_back(step);
  return detail;
}

std::string Lines(const std::string& format, const std::vector<std::string>& wanted = {}) {
  return StepLines(*ReadStepFormat(format), Running(), wanted, {.clock = {}, .now = kNow});
}

TEST(StepPage, ListsTheScriptAndTheStepsThatRun) {
  EXPECT_EQ(Lines("%i %j %M %N %u %P"),
            "7.batch batch 5:00 n1 ada main\n7.1 train|er 1:01 n[1-2] ada main\n");
}

TEST(StepPage, ANameDoesNotBreakTheColumns) {
  EXPECT_EQ(Lines("%i|%j|%N", {"7.1"}).find("train|er"), std::string::npos);
}

TEST(StepPage, OfNamedStepsThoseAlone) {
  EXPECT_EQ(Lines("%i", {"7.1"}), "7.1\n");
  EXPECT_EQ(Lines("%i", {"8.1"}), "");
}

TEST(StepPage, TheUsualColumnsAreSlurms) {
  EXPECT_EQ(StepTitles(*ReadStepFormat("")),
            "         STEPID     NAME PARTITION     USER      TIME NODELIST\n");
}

TEST(StepPage, ALetterThatNoStepHasIsRefused) {
  EXPECT_EQ(ReadStepFormat("%i %t").status().message(),
            "error: Invalid job step format specification: t");
}

}  // namespace
}  // namespace muster::cli::slurm
