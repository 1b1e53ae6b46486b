#include "cli/tell/background_notice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

JobDetail Detail(std::uint64_t id, const std::string& state) {
  JobDetail detail;
  detail.job.id = JobId(id);
  detail.job.state = state;
  return detail;
}

TEST(BackgroundNoticeTest, AnArrayIsWaitedForWhileOneOfItsElementsLives) {
  const absl::StatusOr<std::vector<JobId>> jobs =
      JobsToTell("12", {Detail(12, "COMPLETED"), Detail(13, "RUNNING")});
  ASSERT_TRUE(jobs.ok()) << jobs.status();
  EXPECT_THAT(*jobs, ElementsAre(JobId(12), JobId(13)));
}

TEST(BackgroundNoticeTest, WhatHasEndedOrIsNotThereIsRefused) {
  EXPECT_TRUE(absl::IsNotFound(JobsToTell("12", {}).status()));
  const absl::Status ended = JobsToTell("12", {Detail(12, "FAILED")}).status();
  EXPECT_TRUE(absl::IsFailedPrecondition(ended));
  EXPECT_THAT(std::string(ended.message()), HasSubstr("job 12: has ended as FAILED"));
}

}  // namespace
}  // namespace muster::cli
