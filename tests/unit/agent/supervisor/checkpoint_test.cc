// What an attempt's programs learn about checkpoints, and that its end waits for what is copied.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>

#include "agent/supervisor/checkpoint/checkpoint_hints.h"
#include "checkpoint/advice/hints.h"
#include "checkpoint/session/session.h"
#include "scheduler/runtime/clock.h"
#include "tests/unit/agent/supervisor/attempt_fixture.h"
#include "tests/unit/agent/supervisor/control_client.h"

namespace muster::agent {
namespace {

using ::testing::HasSubstr;

class CheckpointAttempt : public AttemptFixture {
 protected:
  checkpoint::Hints HintsIn(const std::string& name) const {
    checkpoint::Result<checkpoint::HintFile> file = checkpoint::HintFile::Open(work_ / name);
    EXPECT_TRUE(file.ok()) << file.error.text;
    return file.ok() ? file.value.Read() : checkpoint::Hints();
  }
  // Its program saves once and stays; that was heard.
  void StartOneThatStays() {
    std::filesystem::create_directory(work_ / "state");
    Batch("exec " MUSTER_CHECKPOINT_STAYS " state");
    order_.launch.started = SystemClock().Now();
    Start();
    ASSERT_TRUE(Eventually([&] { return !Facts<RunCheckpointed>().empty(); }));
  }
  static TerminateOrder End(EndCause cause, Duration grace) {
    TerminateOrder order;
    order.job = JobId(7);
    order.attempt = AttemptNumber(1);
    order.cause = cause;
    order.grace = grace;
    return order;
  }
  static std::int64_t Milliseconds(Time time) { return time.time_since_epoch().count(); }
};

TEST_F(CheckpointAttempt, TheHintsSayTheIntervalAndWhenTheLimitEndsIt) {
  Batch("cp \"$MUSTER_CHECKPOINT_HINTS\" page\necho interval $MUSTER_CHECKPOINT_INTERVAL");
  order_.launch.program.environment.push_back("MUSTER_CHECKPOINT_INTERVAL=900");
  order_.launch.started = SystemClock().Now();
  order_.launch.spec.time_limit = std::chrono::hours(2);
  EXPECT_TRUE(RunToEnd().status.success());
  const checkpoint::Hints hints = HintsIn("page");
  EXPECT_EQ(hints.interval_ms, 900'000U);
  EXPECT_NEAR(static_cast<double>(hints.deadline_ms),
              static_cast<double>(Milliseconds(order_.launch.started + std::chrono::hours(2))),
              30'000);
  EXPECT_EQ(hints.notice, checkpoint::Notice::kNone);
  EXPECT_EQ(Output(), "interval 900\n");
}

TEST_F(CheckpointAttempt, WithoutALimitOrAnIntervalTheHintsSayNothing) {
  Batch("cp \"$MUSTER_CHECKPOINT_HINTS\" page");
  order_.launch.spec.time_limit = Duration(0);
  EXPECT_TRUE(RunToEnd().status.success());
  EXPECT_EQ(HintsIn("page"), checkpoint::Hints());
}

TEST_F(CheckpointAttempt, ItIsToldThatItIsToEndWhileItHasItsGrace) {
  Batch(
      "trap 'cp \"$MUSTER_CHECKPOINT_HINTS\" page; exit 85' TERM\n"
      "cp \"$MUSTER_CHECKPOINT_HINTS\" copy; mv copy before; while :; do sleep 0.01; done");
  Start();
  ASSERT_TRUE(Eventually([&] { return std::filesystem::exists(work_ / "before"); }));
  const TerminateOrder order = End(EndCause::kPreemptedToRequeue, std::chrono::minutes(1));
  const Time told = SystemClock().Now();
  ASSERT_TRUE(SendTerminate(directory_, order).ok());
  ASSERT_EQ(Wait(), 0);
  EXPECT_EQ(HintsIn("before").notice, checkpoint::Notice::kNone);
  const checkpoint::Hints hints = HintsIn("page");
  EXPECT_EQ(hints.notice, checkpoint::Notice::kPreemption);
  EXPECT_EQ(hints.notice_number, 1U);
  EXPECT_NEAR(static_cast<double>(hints.deadline_ms),
              static_cast<double>(Milliseconds(told + std::chrono::minutes(1))), 20'000);
}

// The helper's name is what the supervisor knows it by.
TEST_F(CheckpointAttempt, ItsEndWaitsForACheckpointThatIsBeingCopied) {
  Batch(
      "(setsid sh -c 'trap \"\" TERM; printf muster-flush > /proc/$$/comm; sleep 4; echo done > "
      "copied' </dev/null >/dev/null 2>&1 &)\n"
      "exit 0");
  EXPECT_TRUE(RunToEnd().status.success());
  EXPECT_EQ(Slurp(work_ / "copied"), "done\n");
}

TEST_F(CheckpointAttempt, AProgramsCheckpointReachesTheSharedDirectoryThoughItEndsAtOnce) {
  Batch("mkdir local; MUSTER_CHECKPOINT_LOCAL_DIR=$PWD/local exec " MUSTER_CHECKPOINT_PI
        " \"$MUSTER_CHECKPOINT_DIR\" 400000 200");  // few rows, and dies of a signal in the last
  std::filesystem::create_directory(work_ / "muster-7.checkpoint");
  EXPECT_FALSE(RunToEnd().status.success());
  const checkpoint::Result<checkpoint::Store> shared =
      checkpoint::Store::Open(checkpoint::Disk::Real(), work_ / "muster-7.checkpoint");
  ASSERT_TRUE(shared.ok()) << shared.error.text;
  std::vector<std::string> passed;
  const auto chosen = shared.value.ChooseForRestart("7", &passed);
  EXPECT_TRUE(chosen.ok()) << chosen.error.text;
}

TEST_F(CheckpointAttempt, WhatProgramsCommitIsReportedBeforeTheEnd) {
  std::filesystem::create_directory(work_ / "state");
  Batch("exec " MUSTER_CHECKPOINT_PI " state 20000");
  order_.launch.started = SystemClock().Now();
  const RunEnded ended = RunToEnd();
  EXPECT_TRUE(ended.status.success()) << ended.text;
  const std::vector<RunCheckpointed> facts = Facts<RunCheckpointed>();
  ASSERT_FALSE(facts.empty());
  const CheckpointRecord& record = facts.back().record;
  EXPECT_GT(record.count, 0U);
  EXPECT_GE(record.begun, order_.launch.started);
  EXPECT_GE(record.committed, record.begun);
  EXPECT_GE(ended.time, record.committed);
  EXPECT_GT(record.bytes, Bytes(0));
  EXPECT_EQ(record.restart, Duration(0));
  EXPECT_EQ(record.notice, 0U);
}

TEST_F(CheckpointAttempt, ProgramsThatAnsweredTheNoticeNeedNoGrace) {
  StartOneThatStays();
  const TerminateOrder order = End(EndCause::kPreemptedToRequeue, std::chrono::hours(1));
  const Time told = SystemClock().Now();
  ASSERT_TRUE(SendTerminate(directory_, order).ok());
  ASSERT_EQ(Wait(), 0);
  const CheckpointRecord record = Facts<RunCheckpointed>().back().record;
  EXPECT_EQ(record.notice, 1U);
  EXPECT_GE(record.count, 2U);
  EXPECT_GE(record.begun, told);
  EXPECT_EQ(Facts<RunEnded>().back().cause, EndCause::kPreemptedToRequeue);
}

TEST_F(CheckpointAttempt, WhoIsCancelledHasItsGraceThoughItSaved) {
  StartOneThatStays();
  const TerminateOrder order = End(EndCause::kCancelled, std::chrono::seconds(2));
  const Time told = SystemClock().Now();
  ASSERT_TRUE(SendTerminate(directory_, order).ok());
  ASSERT_EQ(Wait(), 0);
  EXPECT_GE(Facts<RunEnded>().back().time, told + order.grace);
}

TEST_F(CheckpointAttempt, AutoFollowsWhatACheckpointCostsAndHowOftenNodesFail) {
  std::filesystem::create_directory(work_ / "state");
  Batch("cp \"$MUSTER_CHECKPOINT_HINTS\" before\n" MUSTER_CHECKPOINT_STAYS " state");
  order_.launch.program.environment.push_back("MUSTER_CHECKPOINT_INTERVAL=auto");
  order_.launch.started = SystemClock().Now();
  order_.launch.advice.number = 1;
  order_.launch.advice.mtbf = std::chrono::hours(24);
  Start();
  ASSERT_TRUE(Eventually([&] {
    const auto facts = Facts<RunCheckpointed>();
    return !facts.empty() && facts.back().record.count > 0;
  }));
  EXPECT_EQ(HintsIn("before").interval_ms, 3'180'062U);  // of a minute in a day
  const CheckpointRecord record = Facts<RunCheckpointed>().back().record;
  EXPECT_EQ(record.interval,
            AutomaticInterval(std::max(record.cost, Duration(1)), std::chrono::hours(24)));
  const TerminateOrder order = End(EndCause::kCancelled, Duration(0));
  ASSERT_TRUE(SendTerminate(directory_, order).ok());
  ASSERT_EQ(Wait(), 0);
}

TEST_F(CheckpointAttempt, ATurnReachesThePageAndAnOlderOneDoesNot) {
  Batch(
      "cp \"$MUSTER_CHECKPOINT_HINTS\" before; touch ready\n"
      "while [ ! -e go ]; do sleep 0.01; done; cp \"$MUSTER_CHECKPOINT_HINTS\" after");
  Start();
  ASSERT_TRUE(Eventually([&] { return std::filesystem::exists(work_ / "ready"); }));
  AdviceOrder order;
  order.job = JobId(7);
  order.attempt = AttemptNumber(1);
  order.advice.number = 5;
  order.advice.slot = WriteSlot::kWait;
  ASSERT_TRUE(SendAdvice(directory_, order).ok());
  order.advice.number = 4;
  order.advice.slot = WriteSlot::kYours;
  order.advice.notice = CheckpointNotice::kDrain;
  ASSERT_TRUE(SendAdvice(directory_, order).ok());
  std::ofstream(work_ / "go").put('g');
  ASSERT_EQ(Wait(), 0);
  EXPECT_EQ(HintsIn("before").write_slot, checkpoint::WriteSlot::kFree);
  EXPECT_EQ(HintsIn("after").write_slot, checkpoint::WriteSlot::kWait);
  EXPECT_EQ(HintsIn("after").notice, checkpoint::Notice::kNone);
}

TEST(CheckpointInterval, IsDalysWithinBounds) {
  const auto minutes = [](int count) { return Duration(std::chrono::minutes(count)); };
  EXPECT_EQ(AutomaticInterval(minutes(5), minutes(1440)), Duration(7'001'388));  // 116.690 min
  EXPECT_EQ(AutomaticInterval(std::chrono::seconds(600), std::chrono::seconds(10800)),
            Duration(3'211'111));
  EXPECT_EQ(AutomaticInterval(Duration(1), minutes(1)), Duration(30'000));
  EXPECT_EQ(AutomaticInterval(minutes(60), std::chrono::hours(1'000'000)),
            Duration(std::chrono::hours(24)));
  EXPECT_EQ(AutomaticInterval(minutes(20), minutes(5)), minutes(5));  // d >= 2 M: M
  // Before anything is known, or a cost measured.
  EXPECT_EQ(AutomaticInterval(Duration(0), Duration(0)), minutes(60));
  EXPECT_EQ(AutomaticInterval(minutes(5), Duration(0)), minutes(60));
  EXPECT_EQ(AutomaticInterval(Duration(0), std::chrono::hours(50'000)), minutes(60));
}

TEST_F(CheckpointAttempt, WhatEarlierAttemptsMeasuredStandsUntilThisOneHas) {
  Batch("cp \"$MUSTER_CHECKPOINT_HINTS\" page");
  order_.launch.program.environment.push_back("MUSTER_CHECKPOINT_INTERVAL=auto");
  CheckpointAdvice& advice = order_.launch.advice;
  advice.number = 1;
  advice.mtbf = std::chrono::hours(8);
  advice.loss_mtbf = std::chrono::hours(26);
  advice.cost = std::chrono::seconds(2);
  advice.flush = std::chrono::seconds(40);
  EXPECT_TRUE(RunToEnd().status.success());
  EXPECT_EQ(HintsIn("page").interval_ms, AutomaticInterval(advice.cost, advice.mtbf).count());
  EXPECT_EQ(HintsIn("page").copy_every, 8U);  // 2,696 s of 338 s
}

TEST(CheckpointInterval, OneOfSoManyIsCopiedByWhatThatTakesAndHowOftenNodesAreLost) {
  const auto seconds = [](std::int64_t count) { return Duration(std::chrono::seconds(count)); };
  EXPECT_EQ(CopyEvery(seconds(338), seconds(40), seconds(26 * 3600)), 8U);
  EXPECT_EQ(CopyEvery(seconds(3000), seconds(40), seconds(26 * 3600)), 1U);
  EXPECT_EQ(CopyEvery(seconds(30), Duration(1), std::chrono::hours(10'000'000)), 283U);
  EXPECT_EQ(CopyEvery(seconds(30), seconds(40), std::chrono::hours(10'000'000)), 2880U)
      << "a day at most";
  EXPECT_EQ(CopyEvery(seconds(30), seconds(100), seconds(1)), 4U)
      << "what takes longer than an interval is not begun in each";
  EXPECT_EQ(CopyEvery(Duration(0), seconds(40), seconds(3600)), 0U);
  EXPECT_EQ(CopyEvery(seconds(30), Duration(0), seconds(3600)), 0U);
  EXPECT_EQ(CopyEvery(seconds(30), seconds(40), Duration(0)), 0U);
}

TEST(CheckpointInterval, IsSecondsOrAuto) {
  EXPECT_EQ(CheckpointIntervalOf({"A=1", "MUSTER_CHECKPOINT_INTERVAL=60"}), Duration(60'000));
  EXPECT_EQ(CheckpointIntervalOf({"MUSTER_CHECKPOINT_INTERVAL=auto"}), Duration(3'600'000));
  for (const char* none : {"MUSTER_CHECKPOINT_INTERVAL=", "MUSTER_CHECKPOINT_INTERVAL=-5",
                           "MUSTER_CHECKPOINT_INTERVAL=1e3",
                           "MUSTER_CHECKPOINT_INTERVAL=99999999999999999999", "X=60"}) {
    EXPECT_EQ(CheckpointIntervalOf({none}), Duration(0)) << none;
  }
}

}  // namespace
}  // namespace muster::agent
