#include "agent/node/sample_timer.h"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <vector>

#include "scheduler/runtime/clock.h"
#include "scheduler/runtime/event_loop.h"

namespace muster::agent {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kLeast{40};
constexpr std::chrono::hours kLong{1};

class SampleTimerTest : public ::testing::Test {
 protected:
  SampleTimerTest() : loop_(EventLoop::Create().value()) {}
  // Runs the loop until that number of samples was taken; the next after each is due in `wait`.
  void Run(std::size_t samples, milliseconds wait) {
    most_ = samples;
    wait_ = wait;
    ASSERT_TRUE(loop_->Run().ok());
  }

  SystemClock clock_;
  std::unique_ptr<EventLoop> loop_;
  std::vector<SteadyTime> taken_;
  void Make(milliseconds least) {
    timer_ = std::make_unique<SampleTimer>(*loop_, clock_, least, [this] {
      taken_.push_back(clock_.SteadyNow());
      timer_->Next(wait_);
      if (taken_.size() == most_) {
        loop_->Stop();
      }
    });
  }

  std::size_t most_ = 0;
  milliseconds wait_{0};
  std::unique_ptr<SampleTimer> timer_;
};

TEST_F(SampleTimerTest, SamplesFollowEachOther) {
  Make(kLeast);
  timer_->Next(milliseconds(0));
  Run(3, milliseconds(10));
  EXPECT_GE(taken_[2] - taken_[0], milliseconds(20));
}

TEST_F(SampleTimerTest, OneThatIsWantedSoonComesOnceAndNotBeforeTheLeastHasPassed) {
  Make(kLeast);
  const SteadyTime begin = clock_.SteadyNow();
  timer_->Next(kLong);
  for (int i = 0; i < 5; ++i) {
    timer_->Soon();
  }
  Run(1, kLong);
  EXPECT_EQ(taken_.size(), 1U);
  EXPECT_GE(taken_[0] - begin, kLeast);
  EXPECT_LT(taken_[0] - begin, kLong);
}

TEST_F(SampleTimerTest, OneThatIsDueSoonerStaysDue) {
  Make(kLong);
  timer_->Next(milliseconds(1));
  timer_->Soon();
  Run(1, kLong);
  EXPECT_EQ(taken_.size(), 1U);
}

}  // namespace
}  // namespace muster::agent
