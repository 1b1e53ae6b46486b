// Supervisors that are copies of a prepared one: what they are, and what becomes of them when it is
// gone.

#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "scheduler/runtime/file.h"
#include "scheduler/runtime/process.h"
#include "tests/unit/agent/agent_process.h"

namespace muster::agent {
namespace {

std::string CommandOf(pid_t pid) {
  return ReadFile("/proc/" + std::to_string(pid) + "/cmdline").value_or("");
}

pid_t ParentOf(pid_t pid) {
  const absl::StatusOr<std::string> text = ReadFile("/proc/" + std::to_string(pid) + "/stat");
  return text.ok() ? ParseProcessStat(*text).value().parent_pid : 0;
}

class PreparedSupervisorTest : public AgentProcessTest {
 protected:
  void StartReal() {
    StartAgent({{"--supervisor", MUSTER_SUPERVISOR}});
    controller_->AwaitRegistration();
  }

  LaunchOrder Batch(std::uint64_t job, const std::string& script) const {
    LaunchOrder order = Order(job, "job");
    order.spec.kind = JobKind::kBatch;
    order.spec.time_limit = std::chrono::minutes(1);
    order.spec.kill_grace = std::chrono::seconds(1);
    order.program.script = "#!/bin/sh\n" + script + "\n";
    order.program.environment = {"PATH=/usr/bin:/bin"};
    RankPlacement rank;
    rank.cpus = order.allocation.nodes[0].cpus;
    order.allocation.nodes[0].ranks = {rank};
    return order;
  }

  // Launches a job that sleeps; its supervisor.
  pid_t LaunchSleeper(std::uint64_t job) {
    controller_->Launch(Batch(job, "exec sleep 1000"));
    const std::string name = std::to_string(job) + ".1";
    EXPECT_TRUE(Eventually([&] { return ClaimHolder(name) != 0; }));
    return ClaimHolder(name);
  }

  // The agent's prepared process; 0 when there is none.
  pid_t Prepared() const {
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
      const pid_t pid = static_cast<pid_t>(std::atoi(entry.path().filename().c_str()));
      if (pid > 0 && ParentOf(pid) == agent_ &&
          CommandOf(pid).find(std::string("\0--prepared", 11)) != std::string::npos) {
        return pid;
      }
    }
    return 0;
  }

  // Of a process that was executed the arguments fill their room; a copy has more.
  static bool IsCopy(pid_t pid) {
    const std::string command = CommandOf(pid);
    return command.size() > 2 && command[command.size() - 2] == '\0';
  }

  // Launches sleepers until one's supervisor is a copy, which it returns.
  pid_t LaunchCopy() {
    pid_t copy = 0;
    EXPECT_TRUE(Eventually([&] {
      copy = LaunchSleeper(++jobs_);
      return IsCopy(copy);
    }));
    return copy;
  }

  // Launches a job that ends by itself, and waits for that.
  void ExpectAJobRuns() {
    controller_->Launch(Batch(++jobs_, "echo hello"));
    const std::string output = temp_ / ("muster-" + std::to_string(jobs_) + ".out");
    EXPECT_TRUE(Eventually([&] { return ReadFile(output).value_or("") == "hello\n"; }));
  }

  std::uint64_t jobs_ = 0;
};

TEST_F(PreparedSupervisorTest, ACopyIsTheAgentsChildWithASessionAndArgumentsOfItsOwn) {
  StartReal();
  const pid_t copy = LaunchCopy();
  EXPECT_EQ(ParentOf(copy), agent_);
  EXPECT_EQ(getsid(copy), copy);
  EXPECT_NE(
      CommandOf(copy).find(std::string("\0--dir\0", 7) + attempt(std::to_string(jobs_) + ".1")),
      std::string::npos);
  EXPECT_FALSE(IsCopy(ClaimHolder("1.1"))) << "the first one prepares";
}

TEST_F(PreparedSupervisorTest, ACopyHasNoDescriptorOfTheProcessThatMadeIt) {
  if (geteuid() != 0) {
    GTEST_SKIP() << "only root sees a supervisor's descriptors";
  }
  StartReal();
  const pid_t copy = LaunchCopy();
  const auto descriptor = [](pid_t pid, int number) {
    std::error_code error;
    return std::filesystem::read_symlink(
               "/proc/" + std::to_string(pid) + "/fd/" + std::to_string(number), error)
        .string();
  };
  const std::string to_agent = descriptor(Prepared(), 3);
  ASSERT_EQ(to_agent.substr(0, 7), "socket:");
  for (int number = 0; number < 100; ++number) {
    EXPECT_NE(descriptor(copy, number), to_agent);
  }
  EXPECT_EQ(descriptor(copy, 0), "/dev/null");
  EXPECT_NE(descriptor(copy, 2).find("/log"), std::string::npos);
}

TEST_F(PreparedSupervisorTest, ItsDeathEndsNoJobAndTheNextOneStarts) {
  StartReal();
  const pid_t copy = LaunchCopy();
  kill(Prepared(), SIGKILL);
  ASSERT_TRUE(Eventually([this] { return Prepared() == 0; }));
  ExpectAJobRuns();
  EXPECT_TRUE(Runs(copy));
  EXPECT_TRUE(Runs(ClaimHolder("1.1")));
}

TEST_F(PreparedSupervisorTest, OneThatDoesNotAnswerIsEndedAndTheJobStarts) {
  StartReal();
  LaunchCopy();
  kill(Prepared(), SIGSTOP);
  ExpectAJobRuns();
  EXPECT_EQ(Prepared(), 0);
}

TEST_F(PreparedSupervisorTest, ItEndsWithTheAgentAndTheCopiesGoOn) {
  StartReal();
  const pid_t copy = LaunchCopy();
  const pid_t prepared = Prepared();
  ASSERT_NE(prepared, 0);
  StopAgent(SIGKILL);
  EXPECT_TRUE(Eventually([prepared] { return !Runs(prepared); }));
  EXPECT_TRUE(Runs(copy));
  StartReal();
  ExpectAJobRuns();
  EXPECT_TRUE(Runs(copy));
}

TEST_F(PreparedSupervisorTest, ACopyThatIsKilledLeavesNoProcessAndIsReported) {
  StartReal();
  LaunchCopy();
  controller_->Launch(
      Batch(++jobs_, "echo $$ > ranks; setsid sh -c 'echo $$ >> ranks; exec sleep 1000' & wait"));
  ASSERT_TRUE(Eventually([this] { return Ranks().size() == 2; }));
  const pid_t supervisor = ClaimHolder(std::to_string(jobs_) + ".1");
  EXPECT_TRUE(IsCopy(supervisor));
  kill(supervisor, SIGKILL);
  EXPECT_EQ(controller_->AwaitEnd().cause, EndCause::kLostSupervisor);
  for (const pid_t pid : Ranks()) {
    EXPECT_FALSE(Runs(pid));
  }
  EXPECT_TRUE(Runs(Prepared()));
  EXPECT_TRUE(Runs(ClaimHolder("1.1")));
}

}  // namespace
}  // namespace muster::agent
