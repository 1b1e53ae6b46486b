#include "daemon/alerts/alert_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "daemon/agents/live_usage.h"
#include "tests/unit/daemon/controller/controller_rig.h"

namespace muster::daemon {
namespace {

using testing::ControllerTest;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class AlertWatchTest : public ControllerTest {
 protected:
  void TearDown() override {
    watch_.reset();
    ControllerTest::TearDown();
  }
  // Rules that wait for nothing.
  static AlertSettings AtOnce() {
    AlertSettings rules = DefaultAlertSettings();
    for (auto& [name, rule] : rules) {
      rule.hold = Duration(0);
    }
    return rules;
  }
  void Watch() {
    warnings_ = std::make_unique<ControllerWarnings>(controller_->meters(), "");
    watch_ = std::make_unique<AlertWatch>(*controller_, usage_, *warnings_, log_, AtOnce(),
                                          std::chrono::milliseconds(5));
  }
  JobId RunOne() {
    node_ = Register();
    const JobId job = Submit("a");
    door_.AwaitLaunch(job);
    EXPECT_TRUE(Report(node_, job, 1, RunStarted{clock_.Now(), 42, ""}).ok());
    return job;
  }
  std::vector<Alert> OpenAlerts() {
    std::promise<std::vector<Alert>> promise;
    controller_->Look([&](const StateView& view) -> Controller::Reply {
      std::vector<Alert> open;
      for (const auto& [name, alert] : view.state().alerts().all()) {
        open.push_back(alert);
      }
      return [&promise, open](const absl::Status&) { promise.set_value(open); };
    });
    return promise.get_future().get();
  }
  // "NodeDrained of node1"
  std::vector<std::string> Names() {
    std::vector<std::string> names;
    for (const Alert& alert : OpenAlerts()) {
      names.push_back(alert.rule + " of " + alert.subject);
    }
    return names;
  }
  void AwaitNames(const std::vector<std::string>& wanted) {
    const auto end = std::chrono::steady_clock::now() + testing::kPatience;
    while (Names() != wanted) {
      ASSERT_LT(std::chrono::steady_clock::now(), end) << ::testing::PrintToString(Names());
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  }

  NodeId node_;
  LiveUsage usage_;
  std::unique_ptr<ControllerWarnings> warnings_;
  std::unique_ptr<AlertWatch> watch_;
};

TEST_F(AlertWatchTest, ADrainedNodeIsAnAlertUntilItIsResumed) {
  Register();
  Watch();
  ASSERT_TRUE(Take(DrainNode{"node1", true, "fans"}).second.ok());
  AwaitNames({"NodeDrained of node1"});
  EXPECT_THAT(OpenAlerts()[0].text, HasSubstr("fans"));
  EXPECT_EQ(OpenAlerts()[0].node, "node1");
  ASSERT_TRUE(Take(DrainNode{"node1", false, ""}).second.ok());
  AwaitNames({});
}

TEST_F(AlertWatchTest, WhatIsWrongWithARunningJobIsAnAlertOfItsUser) {
  const JobId job = RunOne();
  Watch();
  usage_.TakeIdle({{job, {"GpuIdle", "its GPUs are idle", clock_.Now()}}});
  AwaitNames({"GpuIdle of job 1"});
  EXPECT_EQ(OpenAlerts()[0].job, job);
  EXPECT_FALSE(OpenAlerts()[0].user.empty());
  usage_.TakeIdle({});
  AwaitNames({});
}

TEST_F(AlertWatchTest, AJobThatRanOutOfMemoryIsAnAlertThoughItIsGone) {
  const JobId job = RunOne();
  Watch();
  RunEnded end;
  end.time = clock_.Now();
  end.cause = EndCause::kOutOfMemory;
  end.status.signal = 9;
  ASSERT_TRUE(Report(node_, job, 2, end).ok());
  AwaitNames({"JobOutOfMemory of job 1"});
}

TEST_F(AlertWatchTest, AJobThatFitsNowhereIsAnAlert) {
  Register();
  Watch();
  SubmitJob command;
  command.token = "wide";
  command.spec.user = User{1000, 1000, "someone"};
  command.spec.request.min_nodes = 64;
  command.spec.request.tasks = 64;
  command.program.script = "#!/bin/sh\n";
  ASSERT_TRUE(Take(std::move(command)).second.ok());
  AwaitNames({"JobNeverStarts of job 1"});
}

TEST_F(AlertWatchTest, ANewControllerGoesOnWithTheAlertsThatItFinds) {
  Register();
  Watch();
  ASSERT_TRUE(Take(DrainNode{"node1", true, "fans"}).second.ok());
  AwaitNames({"NodeDrained of node1"});
  const Time since = OpenAlerts()[0].since;
  watch_.reset();
  Close();
  Open();
  Register();
  EXPECT_THAT(Names(), ElementsAre("NodeDrained of node1"));
  EXPECT_EQ(OpenAlerts()[0].since, since);
  Watch();
  ASSERT_TRUE(Take(DrainNode{"node1", false, ""}).second.ok());
  AwaitNames({});
}

}  // namespace
}  // namespace muster::daemon
