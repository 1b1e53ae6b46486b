#include "tests/unit/agent/agent_process.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <thread>

#include "agent/attempts/attempt_cgroups.h"
#include "agent/supervisor/attempt/attempt_directory.h"
#include "scheduler/runtime/cgroup/cgroup_tree.h"
#include "scheduler/runtime/cgroup/own_cgroup.h"
#include "scheduler/runtime/file.h"
#include "scheduler/runtime/process.h"
#include "scheduler/runtime/unique_fd.h"

namespace muster::agent {
namespace {

// Kills and reaps what has come to this process from agents and supervisors of this test.
void EndChildren() {
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const pid_t pid = static_cast<pid_t>(std::atoi(entry.path().filename().c_str()));
    const absl::StatusOr<std::string> text = ReadFile(entry.path().string() + "/stat");
    const absl::StatusOr<ProcessStat> stat =
        pid > 0 && text.ok() ? ParseProcessStat(*text)
                             : absl::StatusOr<ProcessStat>(absl::NotFoundError("not a process"));
    if (stat.ok() && stat->parent_pid == getpid()) {
      kill(pid, SIGKILL);
    }
  }
}

// What an agent that was killed could not remove.
void RemoveCgroupOf(const std::string& state) {
  const std::string instance = ReadFile(state + "/instance").value_or("").substr(0, 8);
  const std::string own = OwnCgroup(ReadFile("/proc/self/cgroup").value_or(""));
  const std::string mount = CgroupMount(ReadFile("/proc/mounts").value_or(""));
  RemoveCgroup(mount + (own == "/" ? "" : own) + "/muster-node1-" + instance);
}

// The same of its attempts' place in memory.
void RemovePlaceOf(const std::string& state) {
  std::error_code error;
  const auto attempts = std::filesystem::read_symlink(state + "/attempts", error);
  if (!error) {
    std::filesystem::remove_all(attempts.parent_path());
  }
}

}  // namespace

bool Eventually(const std::function<bool()>& holds) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (!holds()) {
    if (std::chrono::steady_clock::now() > end) {
      return false;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return true;
}

bool Runs(pid_t pid) {
  const absl::StatusOr<ProcessIdentity> identity = ReadIdentity(pid);
  return identity.ok() && IsAlive(*identity).value_or(true);
}

AgentProcessTest::AgentProcessTest() {
  EXPECT_EQ(prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), 0);
  controller_ = std::make_unique<TestController>(address());
}

AgentProcessTest::~AgentProcessTest() {
  if (agent_ != 0) {
    StopAgent(SIGKILL);
  }
  do {
    EndChildren();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    while (waitpid(-1, nullptr, WNOHANG) > 0) {
    }
  } while (waitpid(-1, nullptr, WNOHANG) == 0);
  RemoveCgroupOf(state());
  RemovePlaceOf(state());
}

void AgentProcessTest::StartAgent(std::map<std::string, std::string> options, int ready) {
  options.insert({{"--state", state()},
                  {"--controller", address()},
                  {"--name", "node1"},
                  {"--topology", "pack:1 [numa(memory=4GB)] core:4 pu:1"},
                  {"--supervisor", MUSTER_SCRIPTED_SUPERVISOR}});
  SpawnRequest request;
  request.program = MUSTER_AGENT;
  request.arguments = {MUSTER_AGENT};
  for (const auto& [option, value] : options) {
    request.arguments.push_back(option);
    request.arguments.push_back(value);
  }
  request.environment = {"PATH=/usr/bin:/bin", "MUSTER_LOG=warning"};
  // ThreadSanitizer does not see how the packaged gRPC hands an operation from thread to thread and
  // reports each as a race; what is left to it here are crashes.
  request.environment.emplace_back("TSAN_OPTIONS=report_bugs=0");
  if (ready >= 0) {
    request.fds = {{.from = ready, .to = 3}};
  }
  const UniqueFd log(open(LogPath().c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  request.fds.push_back({.from = log.get(), .to = STDERR_FILENO});
  const absl::StatusOr<pid_t> pid = Spawn(request);
  ASSERT_TRUE(pid.ok()) << pid.status();
  agent_ = *pid;
}

int AgentProcessTest::StopAgent(int signal) {
  kill(agent_, signal);
  return AwaitAgentExit();
}

int AgentProcessTest::AwaitAgentExit() {
  int status = -1;
  EXPECT_TRUE(Eventually([&] { return waitpid(agent_, &status, WNOHANG) == agent_; }));
  agent_ = 0;
  return status;
}

bool AgentProcessTest::HasLogged(const std::string& text) const {
  return ReadFile(LogPath()).value_or("").find(text) != std::string::npos;
}

void AgentProcessTest::StartAttached() {
  StartAgent();
  controller_->AwaitRegistration();
}

LaunchOrder AgentProcessTest::Order(std::uint64_t job, const std::string& script) const {
  const auto now = std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now());
  LaunchOrder order;
  order.cluster = TestController::kCluster;
  order.job = JobId(job);
  order.submission = order.job;
  order.attempt = AttemptNumber(1);
  order.epoch = Epoch(1);
  order.node = NodeId(TestController::kNode);
  order.expiry = now + std::chrono::minutes(1);
  order.started = now;
  order.spec.name = script;
  order.spec.user.uid = geteuid();
  order.program.work_dir = temp_.path();
  NodeAllocation part;
  part.node = order.node;
  part.name = "node1";
  part.cpus = CpuSet::Parse("0-1").value();
  order.allocation.nodes = {part};
  return order;
}

TerminateOrder AgentProcessTest::TerminateOf(const LaunchOrder& order) {
  return {.job = order.job,
          .attempt = order.attempt,
          .epoch = order.epoch,
          .node = order.node,
          .cause = EndCause::kCancelled,
          .grace = Duration(100)};
}

std::size_t AgentProcessTest::Starts() const {
  const absl::StatusOr<std::string> text = ReadFile(temp_ / "starts");
  return text.ok() ? static_cast<std::size_t>(std::count(text->begin(), text->end(), '\n')) : 0;
}

std::vector<pid_t> AgentProcessTest::Ranks() const {
  std::istringstream text(ReadFile(temp_ / "ranks").value_or(""));
  std::vector<pid_t> pids;
  for (pid_t pid = 0; text >> pid;) {
    pids.push_back(pid);
  }
  return pids;
}

pid_t AgentProcessTest::ClaimHolder(const std::string& name) const {
  const absl::StatusOr<ProcessIdentity> claim = ReadClaim(AttemptDirectory(attempt(name)));
  return claim.ok() ? claim->pid : 0;
}

}  // namespace muster::agent
