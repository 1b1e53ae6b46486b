#include "agent/run_agent.h"

#include <sys/epoll.h>
#include <unistd.h>

#include <csignal>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "agent/agent.h"
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

AttemptCgroups MakeCgroups(const std::string& name, const StateDirectory& state,
                           const Logger& log) {
  absl::StatusOr<AttemptCgroups> cgroups =
      AttemptCgroups::Make(absl::StrCat(name, "-", state.instance().substr(0, kInstanceDigits)));
  if (!cgroups.ok()) {
    log.Info(kComponent,
             absl::StrCat("no control groups for jobs: ", std::string(cgroups.status().message())));
    return {};
  }
  return *std::move(cgroups);
}

}  // namespace

absl::Status RunAgent(const AgentOptions& options, const MachineFinder& find_machine,
                      const Clock& clock, const Logger& log) {
  IgnoreBrokenPipes();
  ASSIGN_OR_RETURN(const UniqueFd signals, BlockSignals({SIGTERM, SIGINT, SIGHUP}));
  ASSIGN_OR_RETURN(StateDirectory state, StateDirectory::Open(options.state));
  ASSIGN_OR_RETURN(const Machine machine, find_machine());
  ASSIGN_OR_RETURN(const std::unique_ptr<EventLoop> loop, EventLoop::Create());
  EventLoop* const running = loop.get();
  RETURN_IF_ERROR(loop->Watch(signals.get(), EPOLLIN, [&signals, running, &log](std::uint32_t) {
    TakeSignals(signals, running, log);
  }));
  const AttemptCgroups cgroups = MakeCgroups(options.name, state, log);
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
