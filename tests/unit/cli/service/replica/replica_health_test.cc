#include "cli/service/replica/replica_health.h"

#include <gtest/gtest.h>

#include <vector>

namespace muster::cli {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

class ReplicaHealthTest : public ::testing::Test {
 protected:
  SteadyTime now_{std::chrono::hours(1)};
  ReplicaHealth health_{{.interval = seconds(10), .start_grace = minutes(1), .failures = 3}};
};

TEST_F(ReplicaHealthTest, AProgramIsReadyOnceItHasAnsweredWell) {
  EXPECT_FALSE(health_.runs());
  health_.Started(now_);
  EXPECT_TRUE(health_.runs());
  EXPECT_FALSE(health_.ready());
  EXPECT_FALSE(health_.Answered(true, now_));
  EXPECT_TRUE(health_.ready());
  EXPECT_EQ(health_.next(), now_ + seconds(10));
}

TEST_F(ReplicaHealthTest, WhileItStartsItIsAskedOftenAndMayFail) {
  health_.Started(now_);
  for (int i = 0; i < 100; ++i) {
    now_ = health_.next();
    EXPECT_FALSE(health_.Answered(false, now_));
  }
  EXPECT_EQ(health_.failures(), 0);
  EXPECT_EQ(health_.next(), now_ + milliseconds(500));
}

TEST_F(ReplicaHealthTest, AfterItsGraceFailuresCount) {
  health_.Started(now_);
  now_ += minutes(1);
  EXPECT_FALSE(health_.Answered(false, now_));
  EXPECT_FALSE(health_.Answered(false, now_));
  EXPECT_TRUE(health_.Answered(false, now_));
}

TEST_F(ReplicaHealthTest, ThreeFailuresInARowEndAProgramThatWasReady) {
  health_.Started(now_);
  health_.Answered(true, now_);
  EXPECT_FALSE(health_.Answered(false, now_)) << "within its grace, but it has been ready";
  EXPECT_FALSE(health_.Answered(false, now_));
  EXPECT_FALSE(health_.Answered(true, now_));
  EXPECT_FALSE(health_.Answered(false, now_));
  EXPECT_FALSE(health_.Answered(false, now_));
  EXPECT_TRUE(health_.Answered(false, now_));
}

TEST_F(ReplicaHealthTest, PausesGrowToAMinuteAndAreShortAgainAfterAGoodTime) {
  std::vector<seconds> pauses;
  for (int i = 0; i < 8; ++i) {
    health_.Started(now_);
    health_.Ended(now_);
    EXPECT_FALSE(health_.runs());
    pauses.push_back(std::chrono::duration_cast<seconds>(health_.next() - now_));
  }
  EXPECT_EQ(pauses, (std::vector{seconds(1), seconds(2), seconds(4), seconds(8), seconds(16),
                                 seconds(32), seconds(60), seconds(60)}));
  health_.Started(now_);
  health_.Answered(true, now_);
  now_ += minutes(1);
  health_.Ended(now_);
  EXPECT_EQ(health_.next(), now_ + seconds(1));
}

}  // namespace
}  // namespace muster::cli
