// What becomes of an attempt whose supervisor dies.

#include <signal.h>
#include <unistd.h>

#include "scheduler/runtime/file.h"
#include "tests/unit/agent/agent_process.h"

namespace muster::agent {
namespace {

class LostSupervisorTest : public AgentProcessTest {
 protected:
  // Launches an attempt with two ranks and a detached grandchild, all running.
  void LaunchFamily() {
    controller_->Launch(Order(1, "family"));
    controller_->AwaitReport();
    EXPECT_TRUE(std::holds_alternative<BindingRead>(controller_->AwaitReport().fact));
    ASSERT_TRUE(Eventually([this] { return Ranks().size() == 3; }));
  }
  void ExpectNobodyLeft() {
    for (const pid_t pid : Ranks()) {
      EXPECT_FALSE(Runs(pid)) << pid;
    }
  }
};

TEST_F(LostSupervisorTest, ItIsReportedAndNoProcessIsLeft) {
  StartAttached();
  LaunchFamily();
  kill(ClaimHolder("1.1"), SIGKILL);
  const RunEnded ended = controller_->AwaitEnd();
  EXPECT_EQ(ended.cause, EndCause::kLostSupervisor);
  EXPECT_FALSE(ended.status.success());
  ExpectNobodyLeft();
}

TEST_F(LostSupervisorTest, AnAgentThatIsNotTheParentClearsUpToo) {
  StartAttached();
  LaunchFamily();
  StopAgent(SIGKILL);
  StartAttached();
  kill(ClaimHolder("1.1"), SIGKILL);
  EXPECT_EQ(controller_->AwaitEnd().cause, EndCause::kLostSupervisor);
  ExpectNobodyLeft();
}

TEST_F(LostSupervisorTest, BothKilledAtOnceIsFoundAtTheNextStart) {
  StartAttached();
  LaunchFamily();
  const pid_t supervisor = ClaimHolder("1.1");
  StopAgent(SIGKILL);
  kill(supervisor, SIGKILL);
  StartAttached();
  EXPECT_EQ(controller_->AwaitEnd().cause, EndCause::kLostSupervisor);
  ExpectNobodyLeft();
}

TEST_F(LostSupervisorTest, OthersAreLeftAlone) {
  StartAttached();
  controller_->Launch(Order(2, "serves"));
  controller_->AwaitReport();
  const pid_t other = ClaimHolder("2.1");
  LaunchFamily();
  kill(ClaimHolder("1.1"), SIGKILL);
  controller_->AwaitEnd();
  EXPECT_TRUE(Runs(other));
  EXPECT_TRUE(Runs(agent_));
}

TEST_F(LostSupervisorTest, ATornRecordAtTheJournalsEndIsCutOff) {
  StartAttached();
  controller_->Launch(Order(1, "deaf"));
  controller_->AwaitReport();
  const pid_t supervisor = ClaimHolder("1.1");
  const std::string journal = attempt("1.1") + "/journal";
  const std::string whole = ReadFile(journal).value();
  StopAgent(SIGKILL);
  kill(supervisor, SIGKILL);
  ASSERT_TRUE(WriteFileAtomically(journal, whole + std::string("\x40\x00\x00\x00half", 8)).ok());
  StartAttached();
  EXPECT_EQ(controller_->AwaitReport().index, 1U);
  const Report end = controller_->AwaitReport();
  EXPECT_EQ(end.index, 2U);
  EXPECT_TRUE(std::holds_alternative<RunEnded>(end.fact));
}

}  // namespace
}  // namespace muster::agent
