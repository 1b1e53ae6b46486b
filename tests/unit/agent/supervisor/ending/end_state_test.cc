#include "agent/supervisor/ending/end_state.h"

#include <gtest/gtest.h>

namespace muster::agent {
namespace {

constexpr SteadyTime kThen{std::chrono::hours(1)};
constexpr Time kNow{std::chrono::hours(1000)};

RunEnded ReportOf(const EndState& state) {
  return state.Report(kNow, Usage());
}

TEST(EndState, AMainStepThatEndsByItselfGivesItsStatusAndItsRemark) {
  EndState state;
  state.TakeMainStep({.code = 3, .signal = 0}, "", "the file system of its output is full", kThen);
  state.EndByItself();
  EXPECT_TRUE(state.ending());
  EXPECT_FALSE(state.forced());
  EXPECT_EQ(state.main_ended(), kThen);
  const RunEnded end = ReportOf(state);
  EXPECT_EQ(end.time, kNow);
  EXPECT_EQ(end.cause, EndCause::kExited);
  EXPECT_EQ(end.status.code, 3);
  EXPECT_EQ(end.text, "the file system of its output is full");
}

TEST(EndState, WhatEndedWellHasFailedWhenItsContainerCouldNotBeSaved) {
  EndState state;
  state.TakeMainStep(ExitStatus(), "", "", kThen);
  state.TakeSaveFailure("--container-save: no space");
  EXPECT_EQ(ReportOf(state).status, (ExitStatus{1, 0}));
  EXPECT_EQ(ReportOf(state).cause, EndCause::kExited);
  EXPECT_EQ(ReportOf(state).text, "--container-save: no space");
  state.TakeMainStep({.code = 3, .signal = 0}, "", "its own words", kThen);
  EXPECT_EQ(ReportOf(state).status.code, 3);
  EXPECT_EQ(ReportOf(state).text, "its own words");
}

TEST(EndState, WithoutAMainStepHereAnEndIsASuccess) {
  EndState state;
  EXPECT_TRUE(state.Force(EndCause::kJobEnding, ""));
  EXPECT_TRUE(ReportOf(state).status.success());
  EXPECT_EQ(ReportOf(state).cause, EndCause::kJobEnding);
}

TEST(EndState, TheFirstCauseOfAnEndStands) {
  EndState state;
  EXPECT_TRUE(state.Force(EndCause::kTimeLimit, "time limit of 60 s reached"));
  EXPECT_FALSE(state.Force(EndCause::kCancelled, "")) << "it was told before";
  state.TakeMainStep({.code = 0, .signal = 15}, "", "a remark", kThen);
  const RunEnded end = ReportOf(state);
  EXPECT_EQ(end.cause, EndCause::kTimeLimit);
  EXPECT_EQ(end.text, "time limit of 60 s reached");
  EXPECT_EQ(end.status.signal, 15) << "the status is the step's all the same";
}

TEST(EndState, AnOrderChangesNothingOfAnEndThatCameByItself) {
  EndState state;
  state.TakeMainStep({.code = 2, .signal = 0}, "", "", kThen);
  state.EndByItself();
  EXPECT_TRUE(state.Force(EndCause::kCancelled, "cancelled"));
  EXPECT_TRUE(state.forced());
  EXPECT_EQ(ReportOf(state).cause, EndCause::kExited);
  EXPECT_EQ(ReportOf(state).text, "");
  EXPECT_EQ(ReportOf(state).status.code, 2);
}

TEST(EndState, AStepThatCouldNotStartIsAFailureOfTheLaunch) {
  EndState state;
  state.TakeMainStep({.code = 127, .signal = 0}, "cannot run x", "a remark", kThen);
  EXPECT_EQ(ReportOf(state).cause, EndCause::kLaunchFailed);
  EXPECT_EQ(ReportOf(state).text, "cannot run x");
  EXPECT_EQ(ReportOf(state).status.code, 127);
  EndState recalled;
  recalled.Force(EndCause::kCancelled, "");
  recalled.TakeMainStep({.code = 126, .signal = 0}, "it was told to end", "", kThen);
  EXPECT_EQ(ReportOf(recalled).cause, EndCause::kCancelled);
}

TEST(EndState, WantOfMemoryExplainsAFailureAndNothingElse) {
  EndState failed;
  failed.TakeMainStep({.code = 0, .signal = 9}, "", "", kThen);
  failed.EndByItself();
  failed.TakeOutOfMemory("out of memory at 1 GiB");
  EXPECT_EQ(ReportOf(failed).cause, EndCause::kOutOfMemory);
  EXPECT_EQ(ReportOf(failed).text, "out of memory at 1 GiB");
  EndState succeeded;
  succeeded.TakeMainStep({}, "", "", kThen);
  succeeded.TakeOutOfMemory("out of memory at 1 GiB");
  EXPECT_EQ(ReportOf(succeeded).cause, EndCause::kExited);
  EndState cancelled;
  cancelled.Force(EndCause::kCancelled, "");
  cancelled.TakeMainStep({.code = 0, .signal = 9}, "", "", kThen);
  cancelled.TakeOutOfMemory("out of memory at 1 GiB");
  EXPECT_EQ(ReportOf(cancelled).cause, EndCause::kCancelled);
}

TEST(EndState, TheFirstFaultOfTheNodeIsTold) {
  EndState state;
  state.RecordNodeFault("prolog /etc/p: exit code 1");
  state.RecordNodeFault("epilog /etc/e: exit code 2");
  EXPECT_EQ(ReportOf(state).node_fault, "prolog /etc/p: exit code 1");
}

TEST(EndState, TheJobIsOverWhileTheSitesEpilogRunsAndOnceAllIs) {
  EndState state;
  state.EndByItself();
  EXPECT_FALSE(state.job_over());
  state.SetEpilog(true);
  EXPECT_TRUE(state.job_over());
  EXPECT_FALSE(state.finished());
  state.SetEpilog(false);
  EXPECT_FALSE(state.job_over()) << "it may have left something";
  state.Finish();
  EXPECT_TRUE(state.job_over());
}

TEST(EndsWithItsCheckpoint, OnlyWhatRunsAgainOrGivesWayIsOverWithIt) {
  JobSpec spec;
  EXPECT_TRUE(EndsWithItsCheckpoint(EndCause::kPreempted, spec));
  EXPECT_TRUE(EndsWithItsCheckpoint(EndCause::kRequeued, spec));
  EXPECT_FALSE(EndsWithItsCheckpoint(EndCause::kCancelled, spec));
  EXPECT_FALSE(EndsWithItsCheckpoint(EndCause::kTimeLimit, spec));
  spec.requeue = Choice::kYes;
  EXPECT_TRUE(EndsWithItsCheckpoint(EndCause::kTimeLimit, spec));
}

}  // namespace
}  // namespace muster::agent
