#include "cli/slurm/format/job_words.h"

#include <gtest/gtest.h>

#include "scheduler/base/text/duration_text.h"

namespace muster::cli::slurm {
namespace {

JobView InState(const std::string& state) {
  JobView job;
  job.state = state;
  job.reason.kind = "Resources";
  return job;
}

TEST(JobWords, AReasonIsOneWordAndNeverEmpty) {
  EXPECT_EQ(ReasonWord(InState("PENDING")), "Resources");
  EXPECT_EQ(ReasonWord(InState("RUNNING")), "None");
  EXPECT_EQ(ReasonWord(InState("TIMEOUT")), "TimeLimit");
  EXPECT_EQ(ReasonWord(InState("FAILED")), "NonZeroExitCode");
  EXPECT_EQ(ReasonWord(InState("NODE_FAIL")), "NodeDown");
  JobView job = InState("PENDING");
  job.reason.kind = "NotPlannedYet";
  EXPECT_EQ(ReasonWord(job), "None");
  job.reason.kind.clear();
  EXPECT_EQ(ReasonWord(job), "None");
}

TEST(JobWords, AJobThatIsBeingStartedRuns) {
  EXPECT_EQ(StateWord(InState("CONFIGURING")), "RUNNING");
  EXPECT_EQ(StateLetters(InState("CONFIGURING")), "R");
  EXPECT_EQ(StateLetters(InState("OUT_OF_MEMORY")), "OOM");
}

TEST(JobWords, ElementsThatWaitTogetherStandInBrackets) {
  JobView job = InState("PENDING");
  job.id = JobId(16);
  job.array_job_id = JobId(16);
  job.label = "16_2";
  job.array_task_id = "2";
  job.array_throttle = 2;
  EXPECT_EQ(JobLabel(job, {2, 3, 4, 9}), "16_[2-4,9%2]");
  EXPECT_EQ(TaskLabel(job, {2, 3, 4, 9}), "2-4,9%2");
  EXPECT_EQ(JobLabel(job, {}), "16_2");
  EXPECT_EQ(JobLabel(job, {2}), "16_2");
  job.indices = {ArrayRange{2, 2, 1}};
  job.array_throttle = 0;
  EXPECT_EQ(JobLabel(job, {2}), "16_[2]");
}

TEST(JobWords, ALimitThatIsNoneSaysSo) {
  EXPECT_EQ(ShortLimit(kTimeLimitMax), "UNLIMITED");
  EXPECT_EQ(LongLimit(std::chrono::hours(2)), "02:00:00");
  EXPECT_EQ(ShortLimit(std::chrono::hours(2)), "2:00:00");
}

TEST(JobWords, GpusAreNamedAsTheyWereAskedFor) {
  EXPECT_EQ(GresText({"tesla", 2}), "gres:gpu:tesla:2");
  EXPECT_EQ(GresText({"", 2}), "gres:gpu:2");
  EXPECT_EQ(GresText({}), "");
}

}  // namespace
}  // namespace muster::cli::slurm
