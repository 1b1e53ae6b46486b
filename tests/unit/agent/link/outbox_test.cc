#include "agent/link/outbox.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <limits>
#include <vector>

#include "scheduler/runtime/clock.h"
#include "tests/unit/scheduler/runtime/temp_directory.h"

namespace muster::agent {
namespace {

using ::testing::ElementsAre;

class OutboxTest : public ::testing::Test {
 protected:
  OutboxTest()
      : state_(StateDirectory::Open(temp_ / "agent").value()),
        log_(clock_, STDERR_FILENO, LogLevel::kError, false),
        outbox_(state_, log_, [this](const Report& report) {
          if (sent_.size() == room_) {
            return false;
          }
          sent_.push_back(report.index);
          return true;
        }) {
    EXPECT_TRUE(state_.MakeAttempt(kKey).ok());
  }
  void Append(const Fact& fact) {
    JournalWriter journal =
        JournalWriter::Open(state_.Attempt(kKey).Journal(), kKey.job, kKey.attempt).value();
    EXPECT_TRUE(journal.Append(fact).ok());
  }

  static constexpr AttemptKey kKey{JobId(1), AttemptNumber(1)};
  TempDirectory temp_;
  const SystemClock clock_;
  StateDirectory state_;
  const Logger log_;
  std::size_t room_ = std::numeric_limits<std::size_t>::max();
  std::vector<std::uint64_t> sent_;
  Outbox outbox_;
};

TEST_F(OutboxTest, EachReportGoesOnceInOrder) {
  outbox_.Pump(kKey);
  Append(RunStarted());
  Append(BindingRead());
  outbox_.Pump(kKey);
  outbox_.Pump(kKey);
  Append(RunEnded());
  outbox_.Pump(kKey);
  EXPECT_THAT(sent_, ElementsAre(1, 2, 3));
}

TEST_F(OutboxTest, WhatFoundNoRoomGoesLaterAndNothingOvertakesIt) {
  Append(RunStarted());
  Append(BindingRead());
  room_ = 1;
  outbox_.Pump(kKey);
  Append(RunEnded());
  outbox_.Pump(kKey);
  EXPECT_THAT(sent_, ElementsAre(1));
  room_ = 10;
  outbox_.Pump(kKey);
  EXPECT_THAT(sent_, ElementsAre(1, 2, 3));
}

TEST_F(OutboxTest, AfterARewindOnlyWhatWasNotAcknowledgedGoesAgain) {
  Append(RunStarted());
  Append(BindingRead());
  outbox_.Pump(kKey);
  EXPECT_FALSE(outbox_.Acknowledge(kKey, 1));
  outbox_.Rewind(kKey);
  outbox_.Pump(kKey);
  EXPECT_THAT(sent_, ElementsAre(1, 2, 2));
}

TEST_F(OutboxTest, AfterARestartEverythingGoesAgain) {
  Append(RunStarted());
  Append(BindingRead());
  outbox_.Pump(kKey);
  outbox_.Acknowledge(kKey, 2);
  outbox_.Restart(kKey);
  Append(RunEnded());
  outbox_.Pump(kKey);
  EXPECT_THAT(sent_, ElementsAre(1, 2, 1, 2, 3));
  EXPECT_FALSE(outbox_.Acknowledge(kKey, 2));
  EXPECT_TRUE(outbox_.Acknowledge(kKey, 3));
}

TEST_F(OutboxTest, TheAcknowledgedNumberSurvivesTheAgent) {
  Append(RunStarted());
  Append(BindingRead());
  outbox_.Pump(kKey);
  outbox_.Acknowledge(kKey, 1);
  outbox_.Save();
  outbox_.Forget(kKey);
  outbox_.Pump(kKey);
  EXPECT_THAT(sent_, ElementsAre(1, 2, 2));
}

TEST_F(OutboxTest, OnlyTheAcknowledgedEndFinishesAnAttempt) {
  Append(RunStarted());
  outbox_.Pump(kKey);
  EXPECT_FALSE(outbox_.Acknowledge(kKey, 1));
  Append(RunEnded());
  outbox_.Pump(kKey);
  EXPECT_FALSE(outbox_.Acknowledge(kKey, 1));
  EXPECT_TRUE(outbox_.Acknowledge(kKey, 2));
}

TEST_F(OutboxTest, AnAcknowledgementOfWhatWasNeverSentIsNotBelieved) {
  Append(RunStarted());
  outbox_.Pump(kKey);
  EXPECT_FALSE(outbox_.Acknowledge(kKey, 99));
  Append(RunEnded());
  outbox_.Pump(kKey);
  EXPECT_THAT(sent_, ElementsAre(1, 2));
  EXPECT_FALSE(outbox_.Acknowledge({JobId(2), AttemptNumber(1)}, 1));
}

}  // namespace
}  // namespace muster::agent
