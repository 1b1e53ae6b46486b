#include "cli/connect/relayed_port.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "cli/connect/port_channel.h"
#include "cli/connect/target.h"
#include "cli/frame/own_command.h"
#include "scheduler/base/status.h"
#include "scheduler/runtime/process.h"
#include "scheduler/runtime/program/child_end.h"
#include "scheduler/runtime/signals.h"

namespace muster::cli {
namespace {

constexpr int kCannotBeRun = 127;  // as shells say
constexpr std::chrono::seconds kEndPatience{5};

struct Carrier {
  pid_t pid = 0;
  UniqueFd from;
  UniqueFd to;
};

// `muster forward --carry` runs the relay in the job, in a session of its own: Ctrl-C is for us
// alone.
absl::StatusOr<Carrier> StartCarrier(const Invocation& invocation, const std::string& job,
                                     const ForwardedPort& port) {
  ASSIGN_OR_RETURN(const std::string self, OwnProgram());
  SpawnRequest request;
  request.program = self;
  ASSIGN_OR_RETURN(request.arguments, OwnCommand(invocation, "forward"));
  request.arguments.emplace_back("--carry");
  for (const char* option : {"node", "rank"}) {
    if (invocation.Has(option)) {
      request.arguments.push_back(absl::StrCat("--", option, "=", invocation.Value(option)));
    }
  }
  request.arguments.push_back(job);
  request.arguments.push_back(absl::StrCat("0:", EndOf(port)));
  request.environment = invocation.environment.entries();
  request.new_session = true;
  int down[2] = {-1, -1};
  int up[2] = {-1, -1};
  if (pipe2(down, O_CLOEXEC) != 0 || pipe2(up, O_CLOEXEC) != 0) {
    return absl::ErrnoToStatus(errno, "no pipe");
  }
  const UniqueFd theirs_in(down[0]);
  const UniqueFd theirs_out(up[1]);
  Carrier carrier{0, UniqueFd(up[0]), UniqueFd(down[1])};
  request.fds = {{theirs_in.get(), STDIN_FILENO}, {theirs_out.get(), STDOUT_FILENO}};
  ASSIGN_OR_RETURN(carrier.pid, Spawn(request));
  return carrier;
}

// Its exit code, once it has ended; it is ended when it does not.
int AwaitCarrier(pid_t pid) {
  if (!EndsWithin(pid, kEndPatience)) {
    kill(pid, SIGTERM);
    if (!EndsWithin(pid, kEndPatience)) {
      kill(pid, SIGKILL);
    }
  }
  const int status = AwaitEnd(pid);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

}  // namespace

absl::StatusOr<int> ServePort(const Invocation& invocation, const std::string& job,
                              const ForwardedPort& port, int stop,
                              const std::function<void(std::uint16_t)>& ready) {
  IgnoreBrokenPipes();
  ASSIGN_OR_RETURN(UniqueFd listener, TakeOnLoopback(port.local));
  ASSIGN_OR_RETURN(Carrier carrier, StartCarrier(invocation, job, port));
  auto channel = std::make_unique<PortChannel>(std::move(carrier.from), std::move(carrier.to));
  absl::Status listens;
  channel->OnReady([&] {
    listens = Listen(listener);
    if (listens.ok()) {
      const std::uint16_t local = PortOf(listener);
      channel->Listen(std::move(listener));
      ready(local);
    } else {
      channel->Leave();
    }
  });
  const absl::Status ran = channel->Run(stop);
  pollfd stopped = {stop, POLLIN, 0};
  const bool ours = stop >= 0 && poll(&stopped, 1, 0) == 1;
  channel.reset();  // so ends the relay
  const int code = AwaitCarrier(carrier.pid);
  RETURN_IF_ERROR(listens);
  RETURN_IF_ERROR(ran);
  if (code == kCannotBeRun) {
    ASSIGN_OR_RETURN(const std::string self, OwnProgram());
    return absl::FailedPreconditionError(
        absl::StrCat("job ", job, ": ", self, " cannot be run there; the relay is this program"));
  }
  return ours ? 0 : std::max(code, 1);
}

absl::StatusOr<int> RelayPort(const ForwardedPort& port) {
  IgnoreBrokenPipes();
  RETURN_IF_ERROR(CheckListens(port));
  PortChannel channel(UniqueFd(dup(STDIN_FILENO)), UniqueFd(dup(STDOUT_FILENO)));
  channel.OpenWith([port] { return BeginConnection(port); });
  channel.SayReady();
  RETURN_IF_ERROR(channel.Run(-1));
  return 0;
}

}  // namespace muster::cli
