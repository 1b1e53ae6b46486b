#include "agent/attempts/supervisor_starts.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "agent/supervisor/attempt/copy_request.h"
#include "scheduler/base/status.h"
#include "scheduler/runtime/process.h"

namespace muster::agent {
namespace {

constexpr const char* kStartsComponent = "attempts";

}  // namespace

SupervisorStarts::SupervisorStarts(const Clock& clock, const Logger& log, Children& children,
                                   Config config)
    : clock_(clock), log_(log), children_(children), config_(std::move(config)) {}

SupervisorStarts::~SupervisorStarts() {
  Drop();
}

absl::StatusOr<pid_t> SupervisorStarts::Start(const AttemptDirectory& directory, const char* what) {
  used_ = clock_.SteadyNow();
  if (socket_.valid()) {
    absl::StatusOr<pid_t> copy = Copy(directory, what);
    if (copy.ok()) {
      return copy;
    }
    if (!absl::IsUnavailable(copy.status())) {
      log_.Info(kStartsComponent,
                absl::StrCat("supervisors are executed for a while, each for itself: ",
                             std::string(copy.status().message())));
      Drop();
      not_before_ = used_ + config_.retry;
    }
  }
  absl::StatusOr<pid_t> pid =
      children_.SpawnSupervisor(config_.program, config_.environment, directory, what);
  if (pid.ok() && !socket_.valid() && used_ >= not_before_) {
    if (const absl::Status prepared = Prepare(); !prepared.ok()) {
      log_.Info(kStartsComponent, std::string(prepared.message()));
      Drop();
      not_before_ = used_ + config_.retry;
    }
  }
  return pid;
}

absl::Status SupervisorStarts::Prepare() {
  std::array<int, 2> ends = {-1, -1};
  const UniqueFd nothing(open("/dev/null", O_RDWR | O_CLOEXEC));
  if (!nothing.valid() || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    return absl::ErrnoToStatus(errno, "cannot make a pair of sockets");
  }
  socket_.reset(ends[0]);
  const UniqueFd theirs(ends[1]);
  SpawnRequest request;
  request.program = config_.program;
  request.arguments = {config_.program, "--prepared", std::string(config_.path_bytes + 1, ' ')};
  request.environment = config_.environment;
  request.fds = {{nothing.get(), STDIN_FILENO},
                 {nothing.get(), STDOUT_FILENO},
                 {nothing.get(), STDERR_FILENO},
                 {theirs.get(), STDERR_FILENO + 1}};
  request.new_session = true;
  ASSIGN_OR_RETURN(pid_, children_.SpawnOwn(request));
  ASSIGN_OR_RETURN(pidfd_, OpenChildPidfd(pid_));
  ready_ = false;
  return absl::OkStatus();
}

absl::Status SupervisorStarts::AwaitReady() {
  CopyAnswer answer;
  const ssize_t got = recv(socket_.get(), &answer, sizeof(answer), MSG_DONTWAIT);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) {
    return absl::UnavailableError("the prepared supervisor is not ready yet");
  }
  ready_ = got == sizeof(answer);
  return ready_ ? absl::OkStatus()
                : absl::InternalError(absl::StrCat(config_.program, " cannot be prepared"));
}

absl::StatusOr<pid_t> SupervisorStarts::AwaitCopy() {
  pollfd said = {socket_.get(), POLLIN, 0};
  if (poll(&said, 1, static_cast<int>(config_.answer_within.count())) == 0) {
    // Once it is dead it says no more: what it has said until then is all.
    SendSignal(pidfd_, SIGKILL).IgnoreError();
    poll(&said, 1, static_cast<int>(config_.answer_within.count()));
  }
  CopyAnswer answer;
  if (recv(socket_.get(), &answer, sizeof(answer), MSG_DONTWAIT) != sizeof(answer)) {
    return absl::InternalError("the prepared supervisor has ended or does not answer");
  }
  if (answer.pid <= 0) {
    return absl::ErrnoToStatus(answer.error == EAGAIN ? ENOMEM : answer.error,
                               "the prepared supervisor cannot make a copy");
  }
  children_.Add(answer.pid);
  return answer.pid;
}

absl::StatusOr<pid_t> SupervisorStarts::Copy(const AttemptDirectory& directory, const char* what) {
  if (!ready_) {
    RETURN_IF_ERROR(AwaitReady());
  }
  std::string packet = what;
  packet += '\0';
  packet += directory.path();
  if (packet.size() > kCopyRequestBytesMax ||
      send(socket_.get(), packet.data(), packet.size(), MSG_NOSIGNAL | MSG_DONTWAIT) !=
          static_cast<ssize_t>(packet.size())) {
    return absl::InternalError("the prepared supervisor has ended");
  }
  return AwaitCopy();
}

void SupervisorStarts::Check() {
  if (socket_.valid() && clock_.SteadyNow() - used_ > config_.idle_max) {
    Drop();
  }
}

void SupervisorStarts::Drop() {
  socket_.reset();
  if (pidfd_.valid()) {
    SendSignal(pidfd_, SIGKILL).IgnoreError();  // unless it has ended
    // Then the group that it was in can be removed.
    pollfd ended = {pidfd_.get(), POLLIN, 0};
    poll(&ended, 1, static_cast<int>(config_.answer_within.count()));
    pidfd_.reset();
  }
  children_.Forget(std::exchange(pid_, 0));
  ready_ = false;
}

}  // namespace muster::agent
