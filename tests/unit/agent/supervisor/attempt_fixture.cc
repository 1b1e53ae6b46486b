#include "tests/unit/agent/supervisor/attempt_fixture.h"

#include <sched.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <thread>

#include "agent/supervisor/attempt/journal.h"
#include "scheduler/runtime/clock.h"
#include "scheduler/runtime/file.h"
#include "scheduler/runtime/process.h"
#include "tests/unit/agent/supervisor/control_client.h"

namespace muster::agent {
namespace {

std::vector<std::uint32_t> OurCpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  EXPECT_EQ(sched_getaffinity(0, sizeof(set), &set), 0);
  std::vector<std::uint32_t> cpus;
  for (std::uint32_t cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &set)) {
      cpus.push_back(cpu);
    }
  }
  return cpus;
}

}  // namespace

AttemptFixture::AttemptFixture() : directory_(state_ / "7.1"), cpus_(OurCpus()) {
  EXPECT_EQ(mkdir(directory_.path().c_str(), 0700), 0);
  order_.node_name = "node1";
  order_.controller = "unix:/nowhere/controller.sock";
  NumaNode numa;
  for (const std::uint32_t cpu : cpus_) {
    Core core;
    core.os_index = cpu;
    core.cpus = CpuSet::Of({cpu});
    core.numa = 0;
    order_.machine.cores.push_back(core);
    numa.cpus.Insert(cpu);
  }
  order_.machine.numa_nodes = {numa};
  LaunchOrder& launch = order_.launch;
  launch.cluster = "test";
  launch.job = JobId(7);
  launch.submission = JobId(7);
  launch.attempt = AttemptNumber(1);
  launch.started = SystemClock().Now();
  launch.spec.name = "a job";
  launch.spec.user.name = "somebody";
  launch.spec.request.tasks = 1;
  launch.spec.kill_grace = Duration(500);
  launch.program.work_dir = work_.path();
  launch.program.environment = {"PATH=/usr/bin:/bin"};
  launch.allocation = Placement(1);
}

AttemptFixture::~AttemptFixture() {
  if (supervisor_ != 0) {
    TerminateOrder order;
    order.job = order_.launch.job;
    order.attempt = order_.launch.attempt;
    SendTerminate(directory_, order).IgnoreError();
    if (Wait(std::chrono::seconds(5)) < 0) {
      kill(supervisor_, SIGKILL);
      waitpid(supervisor_, nullptr, 0);
    }
  }
}

Allocation AttemptFixture::Placement(std::uint32_t ranks) const {
  NodeAllocation node;
  node.node = NodeId(1);
  node.name = "node1";
  node.mem_nodes = NumaSet::Of({0});
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    RankPlacement placement;
    placement.rank = rank;
    placement.cpus = CpuSet::Of({cpus_[rank % cpus_.size()]});
    placement.mem_nodes = NumaSet::Of({0});
    node.cpus |= placement.cpus;
    node.ranks.push_back(placement);
  }
  Allocation allocation;
  allocation.nodes = {node};
  return allocation;
}

void AttemptFixture::Batch(const std::string& script) {
  order_.launch.spec.kind = JobKind::kBatch;
  order_.launch.program.script = "#!/bin/sh\n" + script + "\n";
}

void AttemptFixture::RunJob(std::vector<std::string> argv, std::uint32_t ranks) {
  order_.launch.spec.kind = JobKind::kRun;
  order_.launch.spec.request.tasks = ranks;
  order_.launch.program.argv = std::move(argv);
  order_.launch.allocation = Placement(ranks);
}

void AttemptFixture::Start() {
  ASSERT_TRUE(WriteOrder(directory_.Order(), order_).ok());
  SpawnRequest request;
  request.environment = environment_;
  request.program = MUSTER_SUPERVISOR;
  request.arguments = {"muster-supervisor", "--dir", directory_.path()};
  if (const char* leaks = std::getenv("LSAN_OPTIONS")) {
    request.environment.push_back(std::string("LSAN_OPTIONS=") +
                                  leaks);  // as the preset asan sets them
  }
  request.fds = {{STDIN_FILENO, 0}, {STDERR_FILENO, 2}};
  const absl::StatusOr<pid_t> pid = Spawn(request);
  ASSERT_TRUE(pid.ok()) << pid.status();
  supervisor_ = *pid;
}

int AttemptFixture::Wait(std::chrono::milliseconds timeout) {
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  while (std::chrono::steady_clock::now() < deadline) {
    int status = 0;
    if (waitpid(supervisor_, &status, WNOHANG) == supervisor_) {
      supervisor_ = 0;
      return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    }
    Pause();
  }
  return -1;
}

RunEnded AttemptFixture::RunToEnd() {
  Start();
  EXPECT_EQ(Wait(), 0) << Slurp(directory_.Log());
  const std::vector<Report> journal = Journal();
  if (journal.empty() || !std::holds_alternative<RunEnded>(journal.back().fact)) {
    ADD_FAILURE() << "the journal does not end with RunEnded; log: " << Slurp(directory_.Log());
    return RunEnded();
  }
  return std::get<RunEnded>(journal.back().fact);
}

std::vector<Report> AttemptFixture::Journal() const {
  const absl::StatusOr<std::vector<Report>> reports =
      AttemptJournalReader(directory_.Journal()).ReadNew();
  EXPECT_TRUE(reports.ok()) << reports.status();
  return reports.ok() ? *reports : std::vector<Report>();
}

void AttemptFixture::Pause() {
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
}

std::string AttemptFixture::Slurp(const std::string& path) {
  return ReadFile(path).value_or("");
}

}  // namespace muster::agent
