#include "agent/run_agent.h"

#include <sys/epoll.h>
#include <unistd.h>

#include <csignal>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "agent/agent.h"
#include "agent/gpu_devices.h"
#include "agent/supervisor/device_filter.h"
#include "scheduler/base/status.h"
#include "scheduler/runtime/event_loop.h"
#include "scheduler/runtime/signals.h"

namespace muster {
namespace {

constexpr const char* kComponent = "agent";
// As much of the instance as keeps agents of one name on one machine apart.
constexpr std::size_t kInstanceDigits = 8;

void AnnounceReady(int fd) {
  constexpr std::string_view kReady = "ready\n";
  if (fd >= 0) {
    if (write(fd, kReady.data(), kReady.size()) < 0) {
      return;  // nobody waits any more
    }
    close(fd);
  }
}

// Stops the loop at SIGTERM and SIGINT.
void TakeSignals(const UniqueFd& signals, EventLoop* loop, const Logger& log) {
  while (true) {
    const absl::StatusOr<std::optional<SignalEvent>> signal = NextSignal(signals);
    if (!signal.ok() || !signal->has_value()) {
      return;
    }
    if ((*signal)->number != SIGHUP) {
      log.Info(kComponent, absl::StrCat("stopping at signal ", (*signal)->number,
                                        "; jobs go on under their supervisors"));
      loop->Stop();
    }
  }
}

AttemptCgroups MakeCgroups(const AgentOptions& options, const StateDirectory& state,
                           LimitSet* limits) {
  absl::StatusOr<AttemptCgroups> cgroups = AttemptCgroups::Make(
      absl::StrCat(options.name, "-", state.instance().substr(0, kInstanceDigits)),
      options.cgroup_root);
  if (!cgroups.ok()) {
    *limits = NoLimits(std::string(cgroups.status().message()));
    return {};
  }
  *limits = cgroups->limits();
  return *std::move(cgroups);
}

// Of a machine with GPUs: which files are theirs, if the kernel lets us guard them.
void AddDevices(const Machine& machine, bool grouped, NodeLimits* limits) {
  limits->devices = FindGpuDevices(machine, "/");
  if (limits->devices.empty()) {
    return;
  }
  const absl::Status can =
      grouped ? CheckDeviceFilter() : absl::FailedPreconditionError("no control groups");
  if (can.ok()) {
    limits->set.held.emplace_back("devices");
  } else {
    limits->set.missing.push_back({"devices", std::string(can.message())});
  }
}

// What jobs here are held to. A machine that is only played is none to hold anybody to.
NodeLimits MakeLimits(const AgentOptions& options, const Machine& machine, bool grouped,
                      LimitSet set) {
  NodeLimits limits;
  if (!machine.enforced) {
    limits.set = NoLimits(machine.why_not_enforced);
    return limits;
  }
  limits.set = std::move(set);
  limits.pids = options.pids;
  limits.memory_high = options.memory_high;
  AddDevices(machine, grouped, &limits);
  return limits;
}

}  // namespace

absl::Status RunAgent(const AgentOptions& options, const MachineFinder& find_machine,
                      const Clock& clock, const Logger& log) {
  IgnoreBrokenPipes();
  ASSIGN_OR_RETURN(const UniqueFd signals, BlockSignals({SIGTERM, SIGINT, SIGHUP}));
  ASSIGN_OR_RETURN(StateDirectory state, StateDirectory::Open(options.state));
  ASSIGN_OR_RETURN(Machine machine, find_machine());
  ASSIGN_OR_RETURN(const std::unique_ptr<EventLoop> loop, EventLoop::Create());
  EventLoop* const running = loop.get();
  RETURN_IF_ERROR(loop->Watch(signals.get(), EPOLLIN, [&signals, running, &log](std::uint32_t) {
    TakeSignals(signals, running, log);
  }));
  LimitSet set;
  const AttemptCgroups cgroups = MakeCgroups(options, state, &set);
  const NodeLimits limits =
      MakeLimits(options, machine, !cgroups.PathFor("").empty(), std::move(set));
  machine.limits = ToText(limits.set);
  log.Info(kComponent, absl::StrCat("limits: ", machine.limits));
  Agent::Config config;
  config.name = options.name;
  config.hostname = options.hostname;
  config.module_dir = options.module_dir;
  config.machine = machine;
  config.features = options.features;
  config.weight = options.weight;
  config.ready = [fd = options.ready_fd] { AnnounceReady(fd); };
  config.link.address = options.controller;
  config.link.tls = options.tls;
  config.attempts.supervisor = options.supervisor;
  config.attempts.environment = options.environment;
  config.attempts.cgroups = cgroups;
  config.attempts.limits = limits;
  absl::Status outcome;
  {
    Agent agent(*loop, clock, log, state, std::move(config));
    RETURN_IF_ERROR(agent.Start());
    RETURN_IF_ERROR(loop->Run());
    outcome = agent.outcome();
  }
  cgroups.RemoveIfEmpty();
  return outcome;
}

}  // namespace muster
