#include "agent/supervisor/ending/lease.h"

#include <gtest/gtest.h>

#include <memory>

namespace muster::agent {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;

class LeaseTest : public ::testing::Test {
 protected:
  // Turns the loop for so long, or until the lease is over.
  void Turn(milliseconds time) {
    const EventLoop::TimerId timer = loop_->RunAfter(time, [this] { loop_->Stop(); });
    ASSERT_TRUE(loop_->Run().ok());
    loop_->Cancel(timer);
  }
  SteadyTime In(milliseconds time) const { return clock_.SteadyNow() + time; }

  const SystemClock clock_;
  std::unique_ptr<EventLoop> loop_ = *EventLoop::Create();
  int ends_ = 0;
  Lease lease_{*loop_, clock_, [this] {
                 ++ends_;
                 loop_->Stop();
               }};
};

TEST_F(LeaseTest, WhatIsNotRenewedEnds) {
  lease_.Begin(In(milliseconds(20)));
  Turn(hours(1));
  EXPECT_EQ(ends_, 1);
}

TEST_F(LeaseTest, WhatIsOverWhenItBeginsEnds) {
  lease_.Begin(SteadyTime(std::chrono::nanoseconds(0)));
  Turn(hours(1));
  EXPECT_EQ(ends_, 1);
}

TEST_F(LeaseTest, ARenewalPutsTheEndOffAndNeverForward) {
  lease_.Begin(In(milliseconds(20)));
  lease_.Renew(In(hours(1)));
  lease_.Renew(In(milliseconds(1)));
  Turn(milliseconds(100));
  EXPECT_EQ(ends_, 0);
}

TEST_F(LeaseTest, WithoutALeaseNothingEnds) {
  lease_.Renew(In(milliseconds(1)));
  Turn(milliseconds(50));
  EXPECT_EQ(ends_, 0);
}

}  // namespace
}  // namespace muster::agent
