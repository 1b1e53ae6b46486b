// What an agent finds of an earlier run of itself.

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <filesystem>

#include "scheduler/runtime/file.h"
#include "tests/unit/agent/agent_process.h"

namespace muster::agent {
namespace {

using RestartTest = AgentProcessTest;

TEST_F(RestartTest, ARestartedAgentAdoptsALiveSupervisor) {
  StartAttached();
  const LaunchOrder order = Order(1, "serves");
  controller_->Launch(order);
  controller_->AwaitReport();
  const pid_t supervisor = ClaimHolder("1.1");
  StopAgent(SIGKILL);
  EXPECT_TRUE(Runs(supervisor));
  StartAgent();
  const wire::Registration registration = controller_->AwaitRegistration();
  ASSERT_EQ(registration.attempts_size(), 1);
  EXPECT_EQ(registration.attempts(0).job(), 1U);
  EXPECT_FALSE(registration.attempts(0).ended());
  EXPECT_EQ(registration.attempts(0).allocation().cpus(), "0-1");
  controller_->Terminate(TerminateOf(order));
  EXPECT_EQ(controller_->AwaitEnd().cause, EndCause::kCancelled);
  EXPECT_EQ(Starts(), 1U);
}

TEST_F(RestartTest, WhatEndedMeanwhileIsReported) {
  StartAttached();
  const LaunchOrder order = Order(1, "short");
  controller_->Launch(order);
  controller_->AwaitEnd();
  StopAgent(SIGTERM);
  StartAttached();
  EXPECT_EQ(controller_->AwaitEnd().cause, EndCause::kExited);
  EXPECT_EQ(Starts(), 1U);
}

TEST_F(RestartTest, AnOrderThatNobodyClaimedIsStarted) {
  StartAgent({{"--supervisor", "/bin/sleep"}});  // ends at once: --dir is no time to sleep
  controller_->AwaitRegistration();
  controller_->Launch(Order(1, "short"));
  controller_->AwaitEnd();
  StopAgent(SIGKILL);
  // As if the agent had been killed between writing the order and starting the supervisor.
  std::filesystem::remove(attempt("1.1") + "/journal");
  std::filesystem::remove(attempt("1.1") + "/claim");
  StartAttached();
  EXPECT_EQ(controller_->AwaitEnd().cause, EndCause::kExited);
  EXPECT_EQ(Starts(), 1U);
}

TEST_F(RestartTest, AnAttemptWhoseOrderWasNotWrittenWasNotTaken) {
  StartAttached();
  StopAgent(SIGKILL);
  std::filesystem::create_directory(attempt("1.1"));
  StartAgent();
  EXPECT_EQ(controller_->AwaitRegistration().attempts_size(), 0);
  controller_->Launch(Order(1, "short"));
  EXPECT_EQ(controller_->AwaitEnd().cause, EndCause::kExited);
}

TEST_F(RestartTest, AnAttemptOfAnotherBootEndedWithIt) {
  StartAttached();
  controller_->Launch(Order(1, "serves"));
  controller_->AwaitReport();
  StopAgent(SIGKILL);
  const pid_t supervisor = ClaimHolder("1.1");
  // A claim by a process of another boot whose pid is now somebody else's: that one is not touched.
  ASSERT_TRUE(WriteFileAtomically(attempt("1.1") + "/claim",
                                  std::to_string(supervisor) + " 12345 an-earlier-boot\n")
                  .ok());
  StartAttached();
  EXPECT_EQ(controller_->AwaitEnd().cause, EndCause::kNodeRebooted);
  EXPECT_TRUE(Runs(supervisor));
}

TEST_F(RestartTest, AnUnclaimedOrderOfAnotherBootIsNotStarted) {
  StartAgent({{"--supervisor", "/bin/sleep"}});
  controller_->AwaitRegistration();
  controller_->Launch(Order(1, "short"));
  controller_->AwaitEnd();
  StopAgent(SIGKILL);
  // As a power loss may leave it: the order is there, whoever claimed it is not.
  std::filesystem::remove(attempt("1.1") + "/journal");
  std::filesystem::remove(attempt("1.1") + "/claim");
  ASSERT_TRUE(WriteFileAtomically(state() + "/boot", "an-earlier-boot\n").ok());
  StartAttached();
  EXPECT_EQ(controller_->AwaitEnd().cause, EndCause::kNodeRebooted);
  EXPECT_EQ(Starts(), 0U);
}

TEST_F(RestartTest, AnAttemptWhoseJournalALossOfPowerToreEndedWithIt) {
  StartAttached();
  controller_->Launch(Order(1, "serves"));
  controller_->AwaitReport();
  StopAgent(SIGKILL);
  kill(ClaimHolder("1.1"), SIGKILL);
  ASSERT_TRUE(WriteFileAtomically(attempt("1.1") + "/journal", std::string(100, '\0')).ok());
  ASSERT_TRUE(WriteFileAtomically(attempt("1.1") + "/claim", "").ok());
  ASSERT_TRUE(WriteFileAtomically(state() + "/boot", "an-earlier-boot\n").ok());
  StartAttached();
  EXPECT_EQ(controller_->AwaitEnd().cause, EndCause::kNodeRebooted);
  EXPECT_EQ(Starts(), 1U);
}

TEST_F(RestartTest, AnAgentWithoutAControllerKeepsTryingAndLosesNothing) {
  StartAttached();
  controller_->Launch(Order(1, "short"));
  controller_->AwaitEnd();
  controller_.reset();
  usleep(300 * 1000);
  controller_ = std::make_unique<TestController>(address());
  controller_->AwaitRegistration(2);
  EXPECT_EQ(controller_->AwaitEnd().cause, EndCause::kExited);
}

}  // namespace
}  // namespace muster::agent
