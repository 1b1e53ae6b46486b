#include "cli/tell/notice_text.h"

#include <gtest/gtest.h>

namespace muster::cli {
namespace {

JobView Ended(const std::string& state, int seconds) {
  JobView job;
  job.name = "train";
  job.state = state;
  job.start_time = Time(std::chrono::seconds(1'000'000));
  job.end_time = job.start_time + std::chrono::seconds(seconds);
  return job;
}

TEST(NoticeTextTest, AJobIsToldWithItsEndAndItsTime) {
  EXPECT_EQ(NoticeText("12", {Ended("COMPLETED", 300)}),
            "muster: job 12 (train) COMPLETED, after 5:00");
  JobView failed = Ended("FAILED", 5);
  failed.exit_code = 3;
  EXPECT_EQ(NoticeText("last", {failed}),
            "muster: job last (train) FAILED: exit code 3, after 0:05");
}

TEST(NoticeTextTest, OneThatNeverBeganHasNoTime) {
  JobView cancelled = Ended("CANCELLED", 0);
  cancelled.start_time = kNoTime;
  EXPECT_EQ(NoticeText("12_3", {cancelled}), "muster: job 12_3 (train) CANCELLED");
}

TEST(NoticeTextTest, AnArrayIsToldByHowManyEndedHow) {
  EXPECT_EQ(NoticeText("12", {Ended("FAILED", 1), Ended("COMPLETED", 1), Ended("COMPLETED", 1)}),
            "muster: job 12 (train) 2 COMPLETED, 1 FAILED");
}

TEST(NoticeTextTest, ANameControlsNoTerminal) {
  JobView job = Ended("COMPLETED", 1);
  job.name = "\x1b]0;owned\a";
  const std::string text = NoticeText("1", {job});
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_EQ(text.find('\a'), std::string::npos);
}

}  // namespace
}  // namespace muster::cli
