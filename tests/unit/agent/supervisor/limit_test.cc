// The time limit of an attempt that runs, as it is changed, and the warning before its end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>

#include "checkpoint/advice/hints.h"
#include "scheduler/runtime/clock.h"
#include "tests/unit/agent/supervisor/attempt_fixture.h"
#include "tests/unit/agent/supervisor/control_client.h"

namespace muster::agent {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::HasSubstr;

constexpr const char* kRunUntilDone = "while [ ! -e done ]; do sleep 0.01; done";

class LimitTest : public AttemptFixture {
 protected:
  void Limit(Duration limit) {
    order_.launch.started = SystemClock().Now();
    order_.launch.spec.time_limit = limit;
    order_.launch.spec.kill_grace = milliseconds(100);
  }
  void Warn(int signal, Duration before, bool batch) {
    order_.launch.spec.warning = {static_cast<std::uint32_t>(signal), before, false, batch};
  }
  void Begin() {
    Start();
    ASSERT_TRUE(Eventually([&] { return !Facts<RunStarted>().empty(); }));
  }
  void Advise(std::uint32_t number, Duration limit) {
    AdviceOrder order;
    order.job = JobId(7);
    order.attempt = AttemptNumber(1);
    order.advice.number = number;
    order.advice.time_limit = limit;
    ASSERT_TRUE(SendAdvice(directory_, order).ok());
  }
  void Suspend(std::uint32_t number, bool resume) {
    SuspendOrder order;
    order.job = JobId(7);
    order.attempt = AttemptNumber(1);
    order.suspension = number;
    order.resume = resume;
    ASSERT_TRUE(SendSuspend(directory_, order).ok());
    ASSERT_TRUE(Eventually([&] { return Facts<RunSuspended>().size() == number; }));
  }
  void Finish() { std::ofstream(work_ / "done") << "done\n"; }
  static void Rest(int times) {
    for (int i = 0; i < times; ++i) {
      Pause();
    }
  }
  RunEnded End() {
    EXPECT_EQ(Wait(), 0);
    const std::vector<RunEnded> ends = Facts<RunEnded>();
    EXPECT_EQ(ends.size(), 1U);
    return ends.empty() ? RunEnded() : ends.front();
  }
  CheckpointRecord Measured() {
    const std::vector<RunCheckpointed> told = Facts<RunCheckpointed>();
    return told.empty() ? CheckpointRecord() : told.back().record;
  }
};

TEST_F(LimitTest, AnAttemptThatWasGivenMoreRunsPastItsFirstLimit) {
  Batch(kRunUntilDone);
  Limit(seconds(2));
  Begin();
  Advise(2, hours(1));
  Rest(700);
  EXPECT_TRUE(Facts<RunEnded>().empty());
  Finish();
  EXPECT_EQ(End().cause, EndCause::kExited);
}

TEST_F(LimitTest, AShorterLimitEndsItAtOnceWhereItIsOver) {
  Batch(kRunUntilDone);
  Limit(hours(1));
  Begin();
  Advise(2, milliseconds(1));
  const RunEnded end = End();
  EXPECT_EQ(end.cause, EndCause::kTimeLimit);
  EXPECT_THAT(end.text, HasSubstr("time limit of 0 s reached"));
}

TEST_F(LimitTest, OlderAdviceChangesNothing) {
  Batch(kRunUntilDone);
  Limit(hours(1));
  Begin();
  Advise(3, hours(2));
  Advise(2, milliseconds(1));
  Advise(3, milliseconds(1));
  Rest(100);
  EXPECT_TRUE(Facts<RunEnded>().empty());
  Finish();
  EXPECT_EQ(End().cause, EndCause::kExited);
}

TEST_F(LimitTest, ALimitThatCameWhileItWasSuspendedCountsFromThenOn) {
  Batch(kRunUntilDone);
  Limit(seconds(1));
  Begin();
  Suspend(1, false);
  Advise(2, hours(1));
  Rest(300);
  Suspend(2, true);
  Rest(400);
  EXPECT_TRUE(Facts<RunEnded>().empty());
  Advise(3, milliseconds(1));
  EXPECT_EQ(End().cause, EndCause::kTimeLimit);
}

TEST_F(LimitTest, WithoutALimitTheDeadlineStillEndsIt) {
  Batch(kRunUntilDone);
  Limit(seconds(30));
  order_.launch.spec.deadline = SystemClock().Now() + seconds(3);
  Begin();
  Advise(2, Duration::max());
  EXPECT_EQ(End().cause, EndCause::kTimeLimit);
}

TEST_F(LimitTest, TheHintsSayTheNewEnd) {
  Batch(
      "while [ ! -e look ]; do sleep 0.01; done\ncp \"$MUSTER_CHECKPOINT_HINTS\" page; touch done");
  Limit(hours(1));
  Begin();
  Advise(2, hours(3));
  std::ofstream(work_ / "look") << "look\n";
  EXPECT_EQ(End().cause, EndCause::kExited);
  checkpoint::Result<checkpoint::HintFile> page = checkpoint::HintFile::Open(work_ / "page");
  ASSERT_TRUE(page.ok());
  const Time end = order_.launch.started + hours(3);
  EXPECT_NEAR(static_cast<double>(page.value.Read().deadline_ms),
              static_cast<double>(end.time_since_epoch().count()), 30'000);
}

TEST_F(LimitTest, TheScriptAloneIsWarnedWhereThatIsSaid) {
  Batch(
      "trap 'echo warned; touch done' USR1\n"
      "(trap 'touch child' USR1; while [ ! -e done ]; do sleep 0.01; done) &\nwait; wait");
  Limit(seconds(33));
  Warn(SIGUSR1, seconds(30), true);
  const RunEnded end = RunToEnd();
  EXPECT_EQ(end.cause, EndCause::kExited);
  EXPECT_EQ(Output(), "warned\n");
  EXPECT_FALSE(std::filesystem::exists(work_ / "child"));
}

TEST_F(LimitTest, TheRanksAreWarnedAndTheScriptIsNot) {
  RunJob({"/bin/sh", "-c",
          "trap 'touch warned.'$MUSTER_PROCID'; exit 3' USR1; while :; do sleep 0.01; done"},
         2);
  Limit(seconds(33));
  Warn(SIGUSR1, seconds(30), false);
  const RunEnded end = RunToEnd();
  EXPECT_EQ(end.cause, EndCause::kExited);
  EXPECT_EQ(end.status.code, 3);
  EXPECT_TRUE(std::filesystem::exists(work_ / "warned.0"));
  EXPECT_TRUE(std::filesystem::exists(work_ / "warned.1"));
}

TEST_F(LimitTest, WithoutAStepNobodyIsWarned) {
  Batch("trap 'echo warned' USR1\nfor i in 1 2 3 4 5 6 7 8; do sleep 0.3; done");
  Limit(seconds(33));
  Warn(SIGUSR1, seconds(30), false);
  EXPECT_TRUE(RunToEnd().status.success());
  EXPECT_EQ(Output(), "");
}

TEST_F(LimitTest, AWarningFollowsTheLimitAndComesOnce) {
  Batch("trap 'echo warned' USR1\nwhile [ ! -e done ]; do sleep 0.01; done");
  Limit(seconds(35));
  Warn(SIGUSR1, seconds(30), true);
  Begin();
  Advise(2, hours(1));
  Rest(1200);
  EXPECT_EQ(Output(), "");
  Advise(3, seconds(31));
  ASSERT_TRUE(Eventually([&] { return Output() == "warned\n"; }));
  Advise(4, seconds(40));
  Advise(5, seconds(30));
  Rest(100);
  Finish();
  EXPECT_EQ(End().cause, EndCause::kExited);
  EXPECT_EQ(Output(), "warned\n");
}

TEST_F(LimitTest, WithoutTheLibraryTheWayFromTheWarningToTheRequeueCodeIsMeasured) {
  Batch("trap 'sleep 1; exit 85' USR1\nwhile :; do sleep 0.01; done");
  Limit(seconds(33));
  Warn(SIGUSR1, seconds(30), true);
  order_.launch.spec.requeue_exit = 85;
  EXPECT_EQ(RunToEnd().status.code, 85);
  EXPECT_GE(Measured().slow, Duration(900));
  EXPECT_EQ(Measured().cost, Measured().slow);
  EXPECT_EQ(Measured().count, 0U);
}

TEST_F(LimitTest, WithoutThatCodeTheNewestFileIs) {
  Batch(
      "mkdir \"$MUSTER_CHECKPOINT_DIR\"\n"
      "trap 'sleep 1; touch \"$MUSTER_CHECKPOINT_DIR/a\"; sleep 1; exit 0' USR1\n"
      "while :; do sleep 0.01; done");
  Limit(seconds(6));
  order_.launch.spec.warning = {SIGUSR1, seconds(60), true, true};
  EXPECT_TRUE(RunToEnd().status.success());
  EXPECT_GE(Measured().slow, Duration(900));
}

TEST_F(LimitTest, WhatEndsOtherwiseMeasuresNothing) {
  Batch("trap 'exit 7' USR1\nwhile :; do sleep 0.01; done");
  Limit(seconds(33));
  Warn(SIGUSR1, seconds(30), true);
  order_.launch.spec.requeue_exit = 85;
  EXPECT_EQ(RunToEnd().status.code, 7);
  EXPECT_EQ(Measured(), CheckpointRecord());
}

}  // namespace
}  // namespace muster::agent
