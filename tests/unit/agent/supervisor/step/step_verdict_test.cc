#include "agent/supervisor/step/step_verdict.h"

#include <gtest/gtest.h>

#include <csignal>

namespace muster::agent {
namespace {

using MpiPart = StepVerdict::MpiPart;

constexpr ExitStatus kSuccess;
constexpr ExitStatus kThree{.code = 3, .signal = 0};
constexpr ExitStatus kKilled{.code = 0, .signal = SIGKILL};

TEST(StepVerdict, TheStatusIsThatOfTheFirstRankThatFailed) {
  StepVerdict verdict;
  verdict.TakeStatus(kSuccess);
  EXPECT_TRUE(verdict.status().success());
  verdict.TakeStatus(kThree);
  verdict.TakeStatus(kKilled);
  EXPECT_EQ(verdict.status(), kThree);
}

TEST(StepVerdict, TheFirstReasonIsTold) {
  StepVerdict verdict;
  verdict.TakeLaunchFailure("rank 1: not found");
  verdict.TakeLaunchFailure("rank 2: not found");
  verdict.TakeRemark("the disk is full");
  verdict.TakeRemark("another");
  EXPECT_EQ(verdict.launch_error(), "rank 1: not found");
  EXPECT_EQ(verdict.remark(), "the disk is full");
}

TEST(StepVerdict, TheCodeOfAnAbortIsTheStepsAndNeverZero) {
  StepVerdict verdict;
  verdict.Abort(2, 7);
  EXPECT_TRUE(verdict.broken());
  EXPECT_EQ(verdict.status().code, 7);
  EXPECT_TRUE(verdict.MeaningOf(2, kThree, false, MpiPart()).aborted);
  EXPECT_FALSE(verdict.MeaningOf(2, kThree, false, MpiPart()).with_others);
  EXPECT_TRUE(verdict.MeaningOf(1, kKilled, false, MpiPart()).with_others);
  EXPECT_EQ(AbortCode(0), 1);
  EXPECT_EQ(AbortCode(256), 1);
  EXPECT_EQ(AbortCode(-1), 255);
}

TEST(StepVerdict, ABreakElsewhereGivesItsStatusAndAtLeastCodeOne) {
  StepVerdict verdict;
  StepBreak why;
  why.rank = 5;
  why.status = kKilled;
  verdict.TakeBreak(why);
  EXPECT_TRUE(verdict.broken());
  EXPECT_EQ(verdict.status(), kKilled);
  EXPECT_TRUE(verdict.MeaningOf(0, kKilled, false, MpiPart()).with_others);
  StepVerdict of_nobody;
  of_nobody.TakeBreak(StepBreak());
  EXPECT_FALSE(of_nobody.broken()) << "a supervisor was lost: what becomes of the ranks counts";
  EXPECT_EQ(of_nobody.status().code, 1);
}

TEST(StepVerdict, OnlyAStepWithMpiIsBrokenByARanksEnd) {
  const StepVerdict verdict;
  EXPECT_FALSE(verdict.MeaningOf(0, kKilled, false, std::nullopt).fatal);
  EXPECT_TRUE(verdict.MeaningOf(0, kKilled, false, MpiPart()).fatal);
  EXPECT_FALSE(verdict.MeaningOf(0, kThree, false, MpiPart()).fatal);
  EXPECT_TRUE(verdict.MeaningOf(0, kThree, false, MpiPart()).unjoined);
  const MpiPart within{.joined = true, .ever_joined = true};
  EXPECT_TRUE(verdict.MeaningOf(0, kSuccess, false, within).fatal);
  const MpiPart finalized{.joined = false, .ever_joined = true};
  EXPECT_FALSE(verdict.MeaningOf(0, kSuccess, false, finalized).fatal);
  EXPECT_FALSE(verdict.MeaningOf(0, kSuccess, false, finalized).unjoined);
}

TEST(StepVerdict, WhatEndsAfterTheOrderToEndBreaksNothing) {
  StepVerdict verdict;
  verdict.TellToEnd(true);
  EXPECT_TRUE(verdict.terminating());
  EXPECT_TRUE(verdict.told());
  const ExitMeaning meaning = verdict.MeaningOf(0, kKilled, false, MpiPart());
  EXPECT_FALSE(meaning.fatal);
  EXPECT_TRUE(meaning.with_others) << "it was ended for what happened elsewhere";
  verdict.TellToEnd(false);
  EXPECT_TRUE(verdict.MeaningOf(0, kKilled, false, MpiPart()).with_others);
  EXPECT_FALSE(verdict.MeaningOf(0, kKilled, true, MpiPart()).with_others) << "its own failure";
  EXPECT_TRUE(verdict.MeaningOf(0, kKilled, true, MpiPart()).aborted);
}

}  // namespace
}  // namespace muster::agent
