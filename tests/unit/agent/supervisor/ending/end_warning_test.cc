#include "agent/supervisor/ending/end_warning.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <memory>

namespace muster::agent {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

class EndWarningTest : public ::testing::Test {
 protected:
  void Turn(milliseconds time) {
    const EventLoop::TimerId timer = loop_->RunAfter(time, [this] { loop_->Stop(); });
    ASSERT_TRUE(loop_->Run().ok());
    loop_->Cancel(timer);
  }

  const SystemClock clock_;
  const Logger log_{clock_, STDERR_FILENO, LogLevel::kError, false};
  const std::unique_ptr<EventLoop> loop_ = *EventLoop::Create();
  WarningSignal wanted_{SIGUSR1, seconds(30), false, false};
  EndState end_;
  bool begun_ = true;
  int sent_ = 0;
  EndWarning warning_{*loop_,
                      clock_,
                      log_,
                      wanted_,
                      end_,
                      {.begun = [this] { return begun_; },
                       .send =
                           [this] {
                             ++sent_;
                             return true;
                           }}};
};

TEST_F(EndWarningTest, ComesAsLongBeforeTheEndAsTheJobSaysAndOnce) {
  const SteadyTime before = clock_.SteadyNow();
  warning_.Plan(hours(1), seconds(30) + milliseconds(600), Duration(0));
  Turn(milliseconds(10));
  EXPECT_EQ(sent_, 0);
  EXPECT_FALSE(warning_.sent().has_value());
  Turn(milliseconds(600));
  EXPECT_EQ(sent_, 1);
  ASSERT_TRUE(warning_.sent().has_value());
  EXPECT_GE(warning_.sent()->steady, before + milliseconds(490)) << "a tenth of a second early";
  warning_.Plan(hours(1), seconds(5), Duration(0));
  Turn(milliseconds(30));
  EXPECT_EQ(sent_, 1);
}

TEST_F(EndWarningTest, FollowsTheEndThatIsPlannedLast) {
  warning_.Plan(hours(1), seconds(30), Duration(0));
  warning_.Plan(hours(1), hours(2), Duration(0));
  Turn(milliseconds(30));
  EXPECT_EQ(sent_, 0);
  warning_.Plan(hours(1), seconds(20), Duration(0));
  warning_.Forget();
  Turn(milliseconds(30));
  EXPECT_EQ(sent_, 0);
}

TEST_F(EndWarningTest, WaitsForTheWorkToBegin) {
  begun_ = false;
  warning_.Plan(hours(1), seconds(20), Duration(0));
  Turn(milliseconds(30));
  EXPECT_EQ(sent_, 0);
  begun_ = true;
  Turn(milliseconds(200));
  EXPECT_EQ(sent_, 1);
}

TEST_F(EndWarningTest, DoesNotComeToWhatEndsAlready) {
  warning_.Plan(hours(1), seconds(20), Duration(0));
  end_.Force(EndCause::kCancelled, "");
  Turn(milliseconds(30));
  EXPECT_EQ(sent_, 0);
  EXPECT_FALSE(warning_.sent().has_value());
}

TEST_F(EndWarningTest, IsNotSentWhereTheJobWantsNone) {
  wanted_.signal = 0;
  warning_.Plan(hours(1), seconds(1), Duration(0));
  Turn(milliseconds(30));
  EXPECT_EQ(sent_, 0);
}

TEST_F(EndWarningTest, ComesSoonerOnceCheckpointsTurnOutToBeSlower) {
  wanted_.automatic = true;
  warning_.Plan(hours(10), seconds(100), seconds(20));
  warning_.TakeSlow(seconds(20));
  Turn(milliseconds(30));
  EXPECT_EQ(sent_, 0);
  warning_.TakeSlow(seconds(100));
  Turn(milliseconds(30));
  EXPECT_EQ(sent_, 1);
}

TEST_F(EndWarningTest, OfATimeThatTheJobSaidCheckpointsChangeNothing) {
  warning_.Plan(hours(10), seconds(100), seconds(20));
  warning_.TakeSlow(seconds(100));
  Turn(milliseconds(30));
  EXPECT_EQ(sent_, 0);
}

}  // namespace
}  // namespace muster::agent
