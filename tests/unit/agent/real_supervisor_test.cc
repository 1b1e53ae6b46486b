// The agent with the real supervisor: a batch script from order to acknowledged end.

#include <signal.h>
#include <unistd.h>

#include <filesystem>

#include "scheduler/runtime/file.h"
#include "tests/unit/agent/agent_process.h"

namespace muster::agent {
namespace {

class RealSupervisorTest : public AgentProcessTest {
 protected:
  void StartReal() {
    StartAgent({{"--supervisor", MUSTER_SUPERVISOR}});
    controller_->AwaitRegistration();
  }
  LaunchOrder Batch(const std::string& script) const {
    LaunchOrder order = Order(1, "job");
    order.spec.kind = JobKind::kBatch;
    order.spec.time_limit = std::chrono::minutes(1);
    order.spec.kill_grace = std::chrono::seconds(1);
    order.program.script = "#!/bin/sh\n" + script + "\n";
    order.program.environment = {"PATH=/usr/bin:/bin"};
    order.program.umask = 022;
    RankPlacement rank;
    rank.cpus = order.allocation.nodes[0].cpus;
    order.allocation.nodes[0].ranks = {rank};
    return order;
  }
};

TEST_F(RealSupervisorTest, AScriptRunsAndNothingIsLeftOnceItsEndIsAcknowledged) {
  StartReal();
  controller_->Launch(Batch("echo hello; exit 3"));
  Report report = controller_->AwaitReport();
  EXPECT_TRUE(std::holds_alternative<RunStarted>(report.fact));
  while (!std::holds_alternative<RunEnded>(report.fact) && !HasFailure()) {
    controller_->Acknowledge(report);
    report = controller_->AwaitReport();
  }
  ASSERT_FALSE(HasFailure());
  EXPECT_EQ(std::get<RunEnded>(report.fact).cause, EndCause::kExited);
  EXPECT_EQ(std::get<RunEnded>(report.fact).status.code, 3);
  controller_->Acknowledge(report);
  EXPECT_TRUE(Eventually([this] { return !std::filesystem::exists(attempt("1.1")); }));
  EXPECT_EQ(ReadFile(temp_ / "muster-1.out").value(), "hello\n");
}

TEST_F(RealSupervisorTest, AJobSurvivesItsAgentAndIsEndedThroughTheNextOne) {
  StartReal();
  const LaunchOrder order = Batch("sleep 1000");
  controller_->Launch(order);
  controller_->AwaitReport();
  StopAgent(SIGKILL);
  StartReal();
  controller_->Terminate(TerminateOf(order));
  EXPECT_EQ(controller_->AwaitEnd().cause, EndCause::kCancelled);
}

TEST_F(RealSupervisorTest, KillingTheSupervisorLeavesNoProcessAndIsReported) {
  StartReal();
  controller_->Launch(
      Batch("echo $$ > ranks; setsid sh -c 'echo $$ >> ranks; exec sleep 1000' & wait"));
  controller_->AwaitReport();
  ASSERT_TRUE(Eventually([this] { return Ranks().size() == 2; }));
  kill(ClaimHolder("1.1"), SIGKILL);
  EXPECT_EQ(controller_->AwaitEnd().cause, EndCause::kLostSupervisor);
  for (const pid_t pid : Ranks()) {
    EXPECT_FALSE(Runs(pid));
  }
}

TEST_F(RealSupervisorTest, AStoppedSupervisorThatDoesNotAnswerATerminateIsKilled) {
  StartReal();
  const LaunchOrder order = Batch("sleep 1000");
  controller_->Launch(order);
  controller_->AwaitReport();
  kill(ClaimHolder("1.1"), SIGSTOP);
  controller_->Terminate(TerminateOf(order));
  usleep(5'000'000);  // the agent waits ten seconds for the answer
  EXPECT_EQ(controller_->AwaitEnd().cause, EndCause::kLostSupervisor);
}

}  // namespace
}  // namespace muster::agent
