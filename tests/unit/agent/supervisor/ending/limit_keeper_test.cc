#include "agent/supervisor/ending/limit_keeper.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace muster::agent {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::HasSubstr;
using ::testing::SizeIs;

class LimitKeeperTest : public ::testing::Test {
 protected:
  // Turns the loop for so long, or until the time is over.
  void Turn(milliseconds time) {
    const EventLoop::TimerId timer = loop_->RunAfter(time, [this] { loop_->Stop(); });
    ASSERT_TRUE(loop_->Run().ok());
    loop_->Cancel(timer);
  }
  // That so long is left, to the two seconds that a slow machine may have taken.
  static void ExpectLeft(const std::optional<Duration>& left, Duration wanted) {
    ASSERT_TRUE(left.has_value());
    EXPECT_LE(*left, wanted);
    EXPECT_GE(*left, wanted - seconds(2));
  }

  const SystemClock clock_;
  const std::unique_ptr<EventLoop> loop_ = *EventLoop::Create();
  std::vector<std::optional<Duration>> ends_;
  int holds_ = 0;
  std::vector<std::string> over_;
  LimitKeeper keeper_{*loop_,
                      clock_,
                      {.on_end = [this](std::optional<Duration> left) { ends_.push_back(left); },
                       .on_held = [this] { ++holds_; },
                       .on_over =
                           [this](const std::string& why) {
                             over_.push_back(why);
                             loop_->Stop();
                           }}};
};

TEST_F(LimitKeeperTest, EndsWhatHasUsedItsTime) {
  keeper_.Begin(hours(1), clock_.Now() - hours(2), kNoTime);
  EXPECT_EQ(ends_.back(), Duration(0));
  EXPECT_THAT(over_, SizeIs(0)) << "from the loop only";
  Turn(hours(1));
  ASSERT_THAT(over_, SizeIs(1));
  EXPECT_EQ(over_[0], "time limit of 3600 s reached");
}

TEST_F(LimitKeeperTest, CountsFromWhenTheResourcesWereGiven) {
  keeper_.Begin(hours(3), clock_.Now() - hours(1), kNoTime);
  ASSERT_THAT(ends_, SizeIs(1));
  ExpectLeft(ends_[0], hours(2));
  EXPECT_GE(keeper_.Used(), hours(1));
}

TEST_F(LimitKeeperTest, WithoutALimitOnlyTheDeadlineEndsIt) {
  keeper_.Begin(Duration(0), clock_.Now(), kNoTime);
  EXPECT_EQ(ends_.back(), std::nullopt);
  Turn(milliseconds(20));
  EXPECT_THAT(over_, SizeIs(0));
  LimitKeeper other(*loop_, clock_,
                    {.on_end = [this](std::optional<Duration> left) { ends_.push_back(left); },
                     .on_held = [] {},
                     .on_over = [this](const std::string&) { loop_->Stop(); }});
  other.Begin(hours(5), clock_.Now(), clock_.Now() + hours(1));
  ExpectLeft(ends_.back(), hours(1));
}

TEST_F(LimitKeeperTest, AChangeHoldsFromThenOnAndIsToldOnce) {
  keeper_.Begin(hours(1), clock_.Now() - milliseconds(100), kNoTime);
  EXPECT_FALSE(keeper_.Change(hours(1)));
  EXPECT_THAT(ends_, SizeIs(1));
  EXPECT_TRUE(keeper_.Change(Duration::max()));
  EXPECT_EQ(keeper_.limit(), Duration(0));
  EXPECT_EQ(ends_.back(), std::nullopt);
  EXPECT_TRUE(keeper_.Change(milliseconds(1)));
  Turn(hours(1));
  EXPECT_THAT(over_, SizeIs(1));
}

TEST_F(LimitKeeperTest, WhileItIsSuspendedTheLimitStandsStill) {
  keeper_.Begin(milliseconds(300), clock_.Now(), kNoTime);
  keeper_.Hold();
  EXPECT_EQ(holds_, 1);
  EXPECT_THAT(ends_, SizeIs(1)) << "nobody knows when it ends now";
  Turn(milliseconds(400));
  EXPECT_THAT(over_, SizeIs(0));
  keeper_.RunOn();
  EXPECT_THAT(ends_, SizeIs(2));
  EXPECT_GT(ends_.back(), Duration(0));
  Turn(hours(1));
  EXPECT_THAT(over_, SizeIs(1));
}

TEST_F(LimitKeeperTest, TheDeadlineDoesNotMoveWithASuspension) {
  keeper_.Begin(hours(1), clock_.Now(), clock_.Now() + milliseconds(50));
  keeper_.Hold();
  Turn(hours(1));
  ASSERT_THAT(over_, SizeIs(1));
  EXPECT_THAT(over_[0], HasSubstr("deadline"));
}

}  // namespace
}  // namespace muster::agent
