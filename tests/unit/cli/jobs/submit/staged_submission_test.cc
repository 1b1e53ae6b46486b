// A job with the jobs that copy its files: all of them are submitted, or none is left.

#include "cli/jobs/submit/staged_submission.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// A controller that numbers jobs from 12 and refuses the one with that number.
class StagedSubmission : public ::testing::Test {
 protected:
  absl::StatusOr<StagedJobs> Submit(const JobRequest& request) {
    return SubmitStaged({.submit = [this](const JobRequest& each) -> absl::StatusOr<Submitted> {
                           const JobId job(12 + requests_.size());
                           if (job.value() == refused_) {
                             return absl::FailedPreconditionError("no");
                           }
                           requests_.push_back(each);
                           return Submitted{job, "", job.value() == 13 ? "never" : ""};
                         },
                         .release =
                             [this](JobId job) {
                               released_.push_back(job);
                               return release_;
                             },
                         .cancel =
                             [this](const std::vector<JobId>& jobs) {
                               cancelled_ = jobs;
                               return cancel_;
                             }},
                        "/usr/bin/muster", request);
  }
  static JobRequest Asked() {
    JobRequest request;
    request.spec.name = "train";
    request.spec.account = "physics";
    request.spec.request.gpus.count = 8;
    request.program.work_dir = "/work";
    request.program.environment = {"A=b"};
    request.program.stage_in = {{"s3:b/x", "/scratch/x y"}};
    request.program.stage_out = {{"out", "s3:b/out"}};
    return request;
  }

  std::uint64_t refused_ = 0;
  absl::Status release_;
  absl::Status cancel_;
  std::vector<JobRequest> requests_;
  std::vector<JobId> released_;
  std::vector<JobId> cancelled_;
};

TEST_F(StagedSubmission, TheJobComesAfterTheOneAndBeforeTheOther) {
  const StagedJobs staged = Submit(Asked()).value();
  EXPECT_EQ(staged.stage_in, JobId(12));
  EXPECT_EQ(staged.job, JobId(13));
  EXPECT_EQ(staged.stage_out, JobId(14));
  EXPECT_THAT(staged.remarks, ElementsAre(Submitted{JobId(13), "", "never"}));
  ASSERT_EQ(requests_.size(), 3U);
  EXPECT_EQ(ToText(requests_[1].spec.dependency), "afterok:12");
  EXPECT_EQ(ToText(requests_[2].spec.dependency), "afterany:13");
  EXPECT_THAT(requests_[0].program.script,
              HasSubstr("\nexec /usr/bin/muster stage -- s3:b/x '/scratch/x y'\n"));
  EXPECT_THAT(requests_[2].program.script,
              HasSubstr("\nexec /usr/bin/muster stage --after=13 -- out s3:b/out\n"));
}

TEST_F(StagedSubmission, WhatCopiesHasTheJobsAccountAndPlaceAndNoGpu) {
  ASSERT_TRUE(Submit(Asked()).ok());
  for (const std::size_t copy : {0, 2}) {
    const JobRequest& request = requests_[copy];
    EXPECT_EQ(request.spec.account, "physics");
    EXPECT_EQ(request.spec.request.gpus.count, 0U);
    EXPECT_EQ(request.program.work_dir, "/work");
    EXPECT_THAT(request.program.environment, ElementsAre("A=b"));
  }
  EXPECT_EQ(requests_[0].spec.name, "stage-in of train");
  EXPECT_EQ(requests_[2].spec.name, "stage-out of train");
}

TEST_F(StagedSubmission, WhatCopiesHasTheEnvironmentThatIsMeantForIt) {
  JobRequest alloc = Asked();
  alloc.copy_environment = {"RCLONE_CONFIG=/home/ada/rclone.conf"};
  ASSERT_TRUE(Submit(alloc).ok());
  EXPECT_THAT(requests_[0].program.environment, ElementsAre("RCLONE_CONFIG=/home/ada/rclone.conf"));
  EXPECT_THAT(requests_[1].program.environment, ElementsAre("A=b"));
}

TEST_F(StagedSubmission, NothingRunsBeforeAllWereTaken) {
  ASSERT_TRUE(Submit(Asked()).ok());
  EXPECT_TRUE(requests_[0].spec.held);
  EXPECT_FALSE(requests_[1].spec.held);
  EXPECT_THAT(released_, ElementsAre(JobId(12)));
  requests_.clear();
  released_.clear();
  JobRequest out = Asked();
  out.program.stage_in.clear();
  ASSERT_TRUE(Submit(out).ok());
  EXPECT_TRUE(requests_[0].spec.held);
  EXPECT_THAT(released_, ElementsAre(JobId(12)));
}

TEST_F(StagedSubmission, AJobThatIsToBeHeldStaysSo) {
  JobRequest out = Asked();
  out.program.stage_in.clear();
  out.spec.held = true;
  ASSERT_TRUE(Submit(out).ok());
  EXPECT_THAT(released_, IsEmpty());
}

TEST_F(StagedSubmission, OneThatIsRefusedTakesTheOthersBack) {
  refused_ = 12;
  EXPECT_EQ(std::string(Submit(Asked()).status().message()), "its stage-in job: no");
  EXPECT_THAT(cancelled_, IsEmpty());
  refused_ = 13;
  EXPECT_EQ(std::string(Submit(Asked()).status().message()), "no");
  EXPECT_THAT(cancelled_, ElementsAre(JobId(12)));
  requests_.clear();
  refused_ = 14;
  EXPECT_EQ(std::string(Submit(Asked()).status().message()), "its stage-out job: no");
  EXPECT_THAT(cancelled_, ElementsAre(JobId(12), JobId(13)));
  EXPECT_THAT(released_, IsEmpty());
  requests_.clear();
  cancel_ = absl::UnavailableError("gone");
  EXPECT_EQ(std::string(Submit(Asked()).status().message()),
            "its stage-out job: no; what is left of it: muster cancel 12 13");
}

TEST_F(StagedSubmission, WhatCouldNotBeReleasedIsNamed) {
  release_ = absl::UnavailableError("gone");
  EXPECT_EQ(std::string(Submit(Asked()).status().message()),
            "gone; jobs 12 13 14 are submitted, and wait for: muster release 12");
}

TEST_F(StagedSubmission, TheStageInWaitsForWhatTheJobWaitsFor) {
  JobRequest all = Asked();
  all.spec.dependency = {{{DependencyKind::kAfterOk, JobId(5), std::nullopt, Duration(0)},
                          {DependencyKind::kSingleton, JobId(), std::nullopt, Duration(0)}},
                         false};
  ASSERT_TRUE(Submit(all).ok());
  EXPECT_EQ(ToText(requests_[0].spec.dependency), "afterok:5");
  EXPECT_EQ(ToText(requests_[1].spec.dependency), "afterok:5,singleton,afterok:12");
  requests_.clear();
  JobRequest any = Asked();
  any.spec.dependency = {{{DependencyKind::kAfterOk, JobId(5), std::nullopt, Duration(0)},
                          {DependencyKind::kAfterOk, JobId(6), std::nullopt, Duration(0)}},
                         true};
  ASSERT_TRUE(Submit(any).ok());
  EXPECT_EQ(ToText(requests_[0].spec.dependency), "afterok:5?afterok:6");
  EXPECT_EQ(ToText(requests_[1].spec.dependency), "afterok:12");
}

TEST_F(StagedSubmission, WhoWaitsForAJobIsToldWhenItsFilesDoNotCome) {
  JobRequest waits = Asked();
  waits.wait = true;
  ASSERT_TRUE(Submit(waits).ok());
  EXPECT_EQ(requests_[1].spec.kill_on_invalid_dep, Choice::kYes);
  requests_.clear();
  waits.spec.kill_on_invalid_dep = Choice::kNo;
  ASSERT_TRUE(Submit(waits).ok());
  EXPECT_EQ(requests_[1].spec.kill_on_invalid_dep, Choice::kNo);
}

TEST_F(StagedSubmission, WhatDoesNotGoWithStagingIsRefused) {
  EXPECT_TRUE(CheckStaging(Asked()).ok());
  EXPECT_TRUE(CheckStaging(JobRequest()).ok());
  JobRequest again = Asked();
  again.spec.every = "0 3 * * *;UTC";
  EXPECT_THAT(std::string(CheckStaging(again).message()), HasSubstr("--stage-in: is done once"));
  JobRequest any = Asked();
  any.spec.dependency = {{{DependencyKind::kAfterOk, JobId(5), std::nullopt, Duration(0)},
                          {DependencyKind::kSingleton, JobId(), std::nullopt, Duration(0)}},
                         true};
  EXPECT_THAT(std::string(CheckStaging(any).message()), HasSubstr("instead of ?"));
}

}  // namespace
}  // namespace muster::cli
