#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <future>
#include <string>

#include "daemon/store/accounting.h"
#include "tests/unit/daemon/controller/controller_rig.h"

namespace muster::daemon {
namespace {

using testing::ControllerTest;
using testing::kPatience;

TEST_F(ControllerTest, ASubmittedJobIsPlannedAndItsOrderCarriesTheProgram) {
  const NodeId node = Register();
  const JobId job = Submit("token-1", "hello");
  const LaunchOrder order = door_.AwaitLaunch(job);
  EXPECT_EQ(order.node, node);
  EXPECT_EQ(order.cluster, "test");
  EXPECT_EQ(order.epoch, Epoch(1));
  EXPECT_EQ(order.program.argv, std::vector<std::string>{"hello"});
  EXPECT_GT(order.expiry, clock_.Now());
  ASSERT_EQ(order.allocation.nodes.size(), 1U);
  EXPECT_EQ(order.allocation.nodes[0].cpus.Count(), 1U);
}

TEST_F(ControllerTest, ARetryWithTheSameTokenHasOneEffect) {
  const JobId first = Submit("same");
  EXPECT_EQ(Submit("same"), first);
  EXPECT_EQ(LiveJobs(), 1U);
  EXPECT_NE(Submit("other"), first);
}

TEST_F(ControllerTest, AnAcknowledgedJobOutlivesTheControllerAndItsTokenToo) {
  const JobId job = Submit("kept", "kept");
  Close();
  Open();
  EXPECT_EQ(LiveJobs(), 1U);
  EXPECT_EQ(Submit("kept"), job);
  EXPECT_EQ(controller_->epoch(), Epoch(2));
}

TEST_F(ControllerTest, AJobThatRunsThroughARestartEndsWithItsOwnExitCode) {
  const NodeId node = Register();
  const JobId job = Submit("through");
  const LaunchOrder order = door_.AwaitLaunch(job);
  ASSERT_TRUE(Report(node, job, 1, RunStarted{clock_.Now(), 42, "not enforced"}).ok());
  Close();
  Open();
  Register({KnownAttempt{job, AttemptNumber(1), false, order.allocation.nodes[0]}});
  RunEnded end;
  end.time = clock_.Now();
  end.status.code = 7;
  ASSERT_TRUE(Report(node, job, 2, end).ok());
  // A report that is sent again is acknowledged again and changes nothing.
  ASSERT_TRUE(Report(node, job, 2, end).ok());
  EXPECT_EQ(LiveJobs(), 0U);
  const auto accounting = Accounting::Open(*store_);
  ASSERT_TRUE(accounting.ok()) << accounting.status();
  const auto shown = (*accounting)->Show(job, {});
  ASSERT_TRUE(shown.ok()) << shown.status();
  ASSERT_EQ(shown->size(), 1U);
  EXPECT_EQ(shown->front().job.state, "FAILED");
  EXPECT_EQ(shown->front().job.exit_code, 7);
  EXPECT_EQ(shown->front().attempts.size(), 1U);
}

TEST_F(ControllerTest, ANodeThatComesBackWithoutAStartedOrderIsToldAgain) {
  const NodeId node = Register();
  const JobId job = Submit("again");
  door_.AwaitLaunch(job);
  const std::size_t before = door_.Count<LaunchOrder>();
  Take(LoseAgent{node});
  Register();
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  while (door_.Count<LaunchOrder>() == before && std::chrono::steady_clock::now() < deadline) {
    usleep(1000);
  }
  EXPECT_EQ(door_.Count<LaunchOrder>(), before + 1);
}

TEST_F(ControllerTest, AWatcherSeesTheEnd) {
  const NodeId node = Register();
  const JobId job = Submit("watched");
  door_.AwaitLaunch(job);
  std::promise<std::string> ended;
  std::future<std::string> future = ended.get_future();
  const auto watcher = std::make_shared<const Controller::Watcher>(
      Controller::Watcher{[&](const JobView& view, const Allocation*) {
                            if (view.end_time != kNoTime) {
                              ended.set_value(view.state);
                            }
                          },
                          [](const absl::Status&) {}});
  controller_->Watch(job, watcher, [](const absl::Status& found) { EXPECT_TRUE(found.ok()); });
  RunEnded end;
  end.time = clock_.Now();
  ASSERT_TRUE(Report(node, job, 1, RunStarted{clock_.Now(), 1, ""}).ok());
  ASSERT_TRUE(Report(node, job, 2, end).ok());
  ASSERT_EQ(future.wait_for(kPatience), std::future_status::ready);
  EXPECT_EQ(future.get(), "COMPLETED");
}

TEST_F(ControllerTest, AWaitingJobHasItsReasonAfterThePass) {
  const JobId job = Submit("lonely");
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  ReasonKind kind = ReasonKind::kNotPlannedYet;
  while (kind == ReasonKind::kNotPlannedYet && std::chrono::steady_clock::now() < deadline) {
    kind =
        Seen<ReasonKind>([job](const StateView& snapshot) { return snapshot.ReasonOf(job).kind; });
  }
  EXPECT_EQ(kind, ReasonKind::kReqNodeNotAvail);
}

}  // namespace
}  // namespace muster::daemon
