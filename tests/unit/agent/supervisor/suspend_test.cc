// Suspending an attempt: its processes stop, all of them, and go on; its end undoes it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <thread>

#include "scheduler/runtime/clock.h"
#include "tests/unit/agent/supervisor/attempt_fixture.h"
#include "tests/unit/agent/supervisor/control_client.h"

namespace muster::agent {
namespace {

using ::testing::SizeIs;

// Two processes that write a line each while they run, one of them forked away.
constexpr const char* kTwoWriters =
    "(setsid sh -c 'while :; do echo x >> away; sleep 0.01; done' &) &\n"
    "while :; do echo x >> here; sleep 0.01; done";

class SuspendTest : public AttemptFixture {
 protected:
  void Begin(const std::string& script) {
    Batch(script);
    Start();
    ASSERT_TRUE(Eventually([&] { return !Facts<RunStarted>().empty(); }));
  }
  absl::Status Tell(std::uint32_t suspension, bool resume) {
    SuspendOrder order;
    order.job = JobId(7);
    order.attempt = AttemptNumber(1);
    order.suspension = suspension;
    order.resume = resume;
    return SendSuspend(directory_, order);
  }
  void Terminate(Duration grace) {
    TerminateOrder order;
    order.job = JobId(7);
    order.attempt = AttemptNumber(1);
    order.cause = EndCause::kCancelled;
    order.grace = grace;
    EXPECT_TRUE(SendTerminate(directory_, order).ok());
    EXPECT_EQ(Wait(), 0);
  }
  std::size_t Written() const {
    return Slurp(work_ / "here").size() + Slurp(work_ / "away").size();
  }
  bool Suspended(std::size_t reports) const { return Facts<RunSuspended>().size() >= reports; }
};

TEST_F(SuspendTest, NothingOfItRunsFromTheReportOnUntilItIsResumed) {
  Begin(kTwoWriters);
  ASSERT_TRUE(Eventually([&] { return !Slurp(work_ / "away").empty(); }));
  ASSERT_TRUE(Tell(1, false).ok());
  ASSERT_TRUE(Eventually([&] { return Suspended(1); }));
  const std::size_t before = Written();
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  EXPECT_EQ(Written(), before);
  ASSERT_TRUE(Tell(2, true).ok());
  EXPECT_TRUE(Eventually([&] { return Written() > before; }));
  EXPECT_EQ(Facts<RunSuspended>().at(0).suspension, 1U);
  EXPECT_FALSE(Facts<RunSuspended>().at(0).resumed);
  EXPECT_TRUE(Facts<RunSuspended>().at(1).resumed);
  Terminate(Duration(5000));
}

TEST_F(SuspendTest, AnOrderThatComesTwiceOrTooLateChangesNothing) {
  Begin(kTwoWriters);
  ASSERT_TRUE(Tell(3, false).ok());
  ASSERT_TRUE(Eventually([&] { return Suspended(1); }));
  ASSERT_TRUE(Tell(3, false).ok());
  ASSERT_TRUE(Tell(2, true).ok());
  const std::size_t before = Written();
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  EXPECT_EQ(Written(), before);
  EXPECT_THAT(Facts<RunSuspended>(), SizeIs(1));
  Terminate(Duration(5000));
}

TEST_F(SuspendTest, ASuspendedAttemptIsEndedAndMayCleanUp) {
  Begin("trap 'echo cleaned; exit 9' TERM; echo set; while :; do sleep 0.01; done");
  ASSERT_TRUE(Eventually([&] { return Output() == "set\n"; }));
  ASSERT_TRUE(Tell(1, false).ok());
  ASSERT_TRUE(Eventually([&] { return Suspended(1); }));
  Terminate(Duration(20000));
  EXPECT_THAT(Output(), ::testing::EndsWith("cleaned\n"));  // the shell may name the dead sleep
  EXPECT_EQ(Facts<RunEnded>().at(0).cause, EndCause::kCancelled);
  EXPECT_EQ(Facts<RunEnded>().at(0).status.code, 9);
}

TEST_F(SuspendTest, ItsTimeLimitStandsStill) {
  order_.launch.spec.time_limit = Duration(1500);
  order_.launch.started = SystemClock().Now();
  const auto begin = std::chrono::steady_clock::now();
  Begin("while :; do sleep 0.01; done");
  ASSERT_TRUE(Tell(1, false).ok());
  std::this_thread::sleep_for(std::chrono::milliseconds(2500));
  EXPECT_THAT(Facts<RunEnded>(), SizeIs(0));
  ASSERT_TRUE(Tell(2, true).ok());
  EXPECT_EQ(Wait(), 0);
  EXPECT_EQ(Facts<RunEnded>().at(0).cause, EndCause::kTimeLimit);
  EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(3500));
}

}  // namespace
}  // namespace muster::agent
