#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "proto/convert/order.h"
#include "scheduler/model/machine/node.h"
#include "scheduler/runtime/file.h"
#include "scheduler/runtime/process.h"
#include "tests/unit/agent/agent_process.h"

namespace muster::agent {
namespace {

using AgentTest = AgentProcessTest;

TEST_F(AgentTest, ItIntroducesItselfAndBeats) {
  StartAgent();
  const wire::Registration registration = controller_->AwaitRegistration();
  EXPECT_EQ(registration.name(), "node1");
  EXPECT_EQ(registration.instance().size(), 32U);
  EXPECT_EQ(registration.boot_id(), ReadBootId().value());
  EXPECT_EQ(registration.machine().cores_size(), 4);
  EXPECT_EQ(registration.attempts_size(), 0);
  EXPECT_TRUE(Eventually([this] { return controller_->heartbeats() >= 3; }));
  EXPECT_EQ(StopAgent(SIGTERM), 0);
}

TEST_F(AgentTest, ReadinessIsAnnouncedAtTheFirstWelcome) {
  int ends[2] = {-1, -1};
  ASSERT_EQ(pipe(ends), 0);
  StartAgent({{"--ready-fd", "3"}}, ends[1]);
  close(ends[1]);
  controller_->AwaitRegistration();
  char text[16] = {};
  EXPECT_EQ(read(ends[0], text, sizeof(text)), 6);
  EXPECT_STREQ(text, "ready\n");
  EXPECT_EQ(read(ends[0], text, sizeof(text)), 0);
  close(ends[0]);
}

TEST_F(AgentTest, AnAttemptRunsIsReportedInOrderAndGoesWhenItsEndIsAcknowledged) {
  StartAttached();
  controller_->Launch(Order(1, "short"));
  const Report started = controller_->AwaitReport();
  EXPECT_EQ(started.index, 1U);
  EXPECT_TRUE(std::holds_alternative<RunStarted>(started.fact));
  const Report ended = controller_->AwaitReport();
  EXPECT_EQ(ended.index, 2U);
  EXPECT_TRUE(std::holds_alternative<RunEnded>(ended.fact));
  controller_->Acknowledge(started);
  EXPECT_TRUE(Eventually([this] { return ReadFile(attempt("1.1") + "/acked").ok(); }));
  controller_->Acknowledge(ended);
  EXPECT_TRUE(Eventually([this] { return !std::filesystem::exists(attempt("1.1")); }));
  // Where attempts lie in memory, their trash does, too.
  EXPECT_TRUE(Eventually([this] {
    return !std::filesystem::exists(state() + "/trash") ||
           std::filesystem::is_empty(state() + "/trash");
  }));
}

TEST_F(AgentTest, ADuplicateLaunchRunsOnceAndIsReportedAgain) {
  StartAttached();
  const LaunchOrder order = Order(1, "short");
  controller_->Launch(order);
  controller_->AwaitEnd();
  controller_->Launch(order);
  EXPECT_EQ(controller_->AwaitReport().index, 1U);
  EXPECT_EQ(controller_->AwaitReport().index, 2U);
  EXPECT_EQ(Starts(), 1U);
}

TEST_F(AgentTest, ALaunchThatComesAfterTheAcknowledgedEndIsRefused) {
  StartAttached();
  const LaunchOrder order = Order(1, "short");
  controller_->Launch(order);
  controller_->AwaitReport();
  controller_->Acknowledge(controller_->AwaitReport());
  controller_->Launch(order);
  controller_->Launch(Order(2, "short"));
  EXPECT_EQ(controller_->AwaitReport().job, JobId(2));
  EXPECT_FALSE(std::filesystem::exists(attempt("1.1")));
  EXPECT_EQ(Starts(), 2U);
}

TEST_F(AgentTest, OrdersOfAnOlderEpochOfAnotherPlaceOrPastTheirTimeAreRefused) {
  StartAgent();
  controller_->AwaitRegistration(5);
  LaunchOrder old = Order(1, "short");
  old.epoch = Epoch(4);
  LaunchOrder expired = Order(2, "short");
  expired.epoch = Epoch(5);
  expired.expiry = expired.started - std::chrono::seconds(1);
  LaunchOrder elsewhere = Order(3, "short");
  elsewhere.epoch = Epoch(5);
  elsewhere.node = NodeId(8);
  LaunchOrder foreign = Order(4, "short");
  foreign.epoch = Epoch(5);
  foreign.cluster = "other";
  LaunchOrder good = Order(5, "short");
  good.epoch = Epoch(5);
  for (const LaunchOrder& order : {old, expired, elsewhere, foreign, good}) {
    controller_->Launch(order);
  }
  EXPECT_EQ(controller_->AwaitReport().job, JobId(5));
  for (const char* name : {"1.1", "2.1", "3.1", "4.1"}) {
    EXPECT_FALSE(std::filesystem::exists(attempt(name))) << name;
  }
}

TEST_F(AgentTest, TheNewestEpochIsRememberedAndAnOlderControllerIsNotTaken) {
  StartAgent();
  controller_->AwaitRegistration(5);
  EXPECT_TRUE(Eventually([this] { return ReadFile(state() + "/epoch").value_or("") == "5\n"; }));
  StopAgent(SIGKILL);
  StartAgent();
  EXPECT_EQ(controller_->AwaitRegistration(4).epoch_seen(), 5U);
  EXPECT_EQ(controller_->AwaitRegistration(6).epoch_seen(), 5U) << "it comes back, not attached";
  EXPECT_TRUE(Eventually([this] { return ReadFile(state() + "/epoch").value_or("") == "6\n"; }));
}

TEST_F(AgentTest, AControllerWhoseStateWasRestoredHearsAllAgainAndMayStartAgainWhatEnded) {
  StartAgent();
  controller_->AwaitRegistration(5);
  LaunchOrder order = Order(1, "short");
  order.epoch = Epoch(5);
  controller_->Launch(order);
  Report end = controller_->AwaitReport();
  while (!std::holds_alternative<RunEnded>(end.fact)) {
    end = controller_->AwaitReport();
  }
  controller_->Acknowledge(end);
  EXPECT_TRUE(Eventually([this] { return !std::filesystem::exists(attempt("1.1")); }));
  controller_->Drop();
  controller_->AwaitRegistration(5 + kEpochsSkipped);
  order.epoch = Epoch(5 + kEpochsSkipped);
  controller_->Launch(order);
  EXPECT_EQ(controller_->AwaitEnd().cause, EndCause::kExited);
}

TEST_F(AgentTest, TerminateBeforeLaunchLeavesATombstoneThatRefusesTheLateLaunch) {
  StartAttached();
  const LaunchOrder order = Order(1, "short");
  controller_->Terminate(TerminateOf(order));
  const Report end = controller_->AwaitReport();
  ASSERT_TRUE(std::holds_alternative<RunEnded>(end.fact));
  EXPECT_EQ(std::get<RunEnded>(end.fact).cause, EndCause::kNeverStarted);
  controller_->Launch(order);
  EXPECT_EQ(controller_->AwaitEnd().cause, EndCause::kNeverStarted) << "reported again";
  controller_->Acknowledge(end);
  EXPECT_TRUE(Eventually([this] { return !std::filesystem::exists(attempt("1.1")); }));
  EXPECT_EQ(Starts(), 0U);
}

TEST_F(AgentTest, TerminateRightAfterLaunchReachesTheSupervisorThatIsStillStarting) {
  StartAttached();
  const LaunchOrder order = Order(1, "serves");
  controller_->Launch(order);
  controller_->Terminate(TerminateOf(order));
  controller_->Terminate(TerminateOf(order));
  EXPECT_EQ(controller_->AwaitEnd().cause, EndCause::kCancelled);
}

TEST_F(AgentTest, ReportsAreSentAgainAfterAReconnectUntilAcknowledged) {
  StartAttached();
  controller_->Launch(Order(1, "short"));
  const Report first = controller_->AwaitReport();
  controller_->AwaitReport();
  controller_->Drop();
  controller_->AwaitRegistration();
  EXPECT_EQ(controller_->AwaitReport(), first) << "nothing was acknowledged";
  EXPECT_EQ(controller_->AwaitReport().index, 2U);
  controller_->Acknowledge(first);
  EXPECT_TRUE(Eventually([this] { return ReadFile(attempt("1.1") + "/acked").ok(); }));
  controller_->Drop();
  const wire::Registration registration = controller_->AwaitRegistration();
  ASSERT_EQ(registration.attempts_size(), 1);
  EXPECT_TRUE(registration.attempts(0).ended());
  EXPECT_EQ(registration.attempts(0).allocation().cpus(), "0-1");
  EXPECT_EQ(controller_->AwaitReport().index, 2U) << "the first was acknowledged";
}

TEST_F(AgentTest, ASupervisorThatEndsBeforeItBeganIsALaunchThatFailed) {
  StartAttached();
  controller_->Launch(Order(1, "exits"));
  const RunEnded ended = controller_->AwaitEnd();
  EXPECT_EQ(ended.cause, EndCause::kLaunchFailed);
  EXPECT_EQ(ended.text, "its supervisor exited with code 3 before it began: no use for this");
  EXPECT_FALSE(ended.status.success());
}

TEST_F(AgentTest, ASupervisorThatIsNotThereIsALaunchThatFailed) {
  StartAgent({{"--supervisor", "/nonexistent/supervisor"}});
  controller_->AwaitRegistration();
  controller_->Launch(Order(1, "short"));
  const RunEnded ended = controller_->AwaitEnd();
  EXPECT_EQ(ended.cause, EndCause::kLaunchFailed);
  EXPECT_NE(ended.text.find("/nonexistent/supervisor"), std::string::npos) << ended.text;
}

TEST_F(AgentTest, APermanentRefusalEndsItAndAnotherKindDoesNot) {
  StartAgent();
  controller_->AwaitRegistration(0);
  controller_->Refuse("busy", false);
  controller_->AwaitRegistration(0);
  controller_->Refuse("the name node1 belongs to another agent", true);
  const int status = AwaitAgentExit();
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 1);
}

TEST_F(AgentTest, TwoAgentsDoNotShareAStateDirectory) {
  StartAttached();
  const pid_t first = std::exchange(agent_, 0);
  StartAgent();
  EXPECT_EQ(WEXITSTATUS(AwaitAgentExit()), 1);
  agent_ = first;
  EXPECT_TRUE(Runs(first));
}

// Every way in which an order can be wrong is in order_check_test; here, what the agent does then.
TEST_F(AgentTest, AnOrderWithoutASignatureIsNotObeyedAndEndsTheStream) {
  StartAttached();
  wire::ControllerMessage bare;
  ToWire(Order(1, "short"), bare.mutable_launch());
  controller_->Send(bare);
  EXPECT_TRUE(Eventually([this] { return HasLogged("an order without a signature"); }));
  controller_->AwaitRegistration();
  controller_->Launch(Order(2, "short"));
  controller_->AwaitReport();
  EXPECT_FALSE(std::filesystem::exists(attempt("1.1")));
  EXPECT_EQ(Starts(), 1U);
}

TEST_F(AgentTest, AnOrderThatIsShownAgainIsNotObeyedOnThisStreamNorOnTheNext) {
  StartAttached();
  wire::ControllerMessage launch;
  ToWire(Order(1, "short"), launch.mutable_launch());
  wire::ControllerMessage message;
  *message.mutable_signed_() = controller_->Sign(controller_->BodyFor(launch));
  controller_->Send(message);
  controller_->Acknowledge(controller_->AwaitReport());
  controller_->Acknowledge(controller_->AwaitReport());
  EXPECT_TRUE(Eventually([this] { return !std::filesystem::exists(attempt("1.1")); }));
  controller_->Send(message);
  EXPECT_TRUE(Eventually([this] { return HasLogged("and came after 1"); }));
  controller_->AwaitRegistration();
  controller_->Send(message);
  EXPECT_TRUE(Eventually([this] { return HasLogged("signed for another stream"); }));
  controller_->AwaitRegistration();
  EXPECT_EQ(StopAgent(SIGTERM), 0);
  StartAttached();
  controller_->Send(message);
  controller_->AwaitRegistration();
  EXPECT_EQ(Starts(), 1U);
}

TEST_F(AgentTest, AJobOfAUserWhoseJobsAreNotRunHereEndsBeforeItBegins) {
  StartAttached();
  LaunchOrder order = Order(1, "short");
  order.spec.user.uid = geteuid() + 1000;
  controller_->Launch(order);
  const RunEnded ended = controller_->AwaitEnd();
  EXPECT_EQ(ended.cause, EndCause::kLaunchFailed);
  EXPECT_NE(ended.text.find(std::to_string(order.spec.user.uid)), std::string::npos) << ended.text;
  EXPECT_EQ(Starts(), 0U);
}

TEST_F(AgentTest, BadOptionsAreBadUsage) {
  StartAgent({{"--controller", "203.0.113.1:7000"}});
  EXPECT_EQ(WEXITSTATUS(AwaitAgentExit()), 2);
  StartAgent({{"--slice", "2/2"}});
  EXPECT_EQ(WEXITSTATUS(AwaitAgentExit()), 2);
}

}  // namespace
}  // namespace muster::agent
