#include "scheduler/runtime/signals.h"

#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "scheduler/base/status.h"

namespace muster {

absl::StatusOr<UniqueFd> BlockSignals(std::initializer_list<int> signals) {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : signals) {
    if (sigaddset(&set, signal) != 0) {
      return absl::ErrnoToStatus(errno, "cannot block an unknown signal");
    }
  }
  const int error = pthread_sigmask(SIG_BLOCK, &set, nullptr);
  if (error != 0) {
    return absl::ErrnoToStatus(error, "cannot block signals");
  }
  UniqueFd fd(signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!fd.valid()) {
    return absl::ErrnoToStatus(errno, "cannot make a signalfd");
  }
  return fd;
}

absl::StatusOr<std::optional<SignalEvent>> NextSignal(const UniqueFd& signals) {
  signalfd_siginfo info = {};
  ssize_t got = 0;
  do {
    got = read(signals.get(), &info, sizeof(info));
  } while (got < 0 && errno == EINTR);
  if (got < 0 && errno == EAGAIN) {
    return std::nullopt;
  }
  if (got != static_cast<ssize_t>(sizeof(info))) {
    return absl::ErrnoToStatus(errno, "cannot read the signalfd");
  }
  return SignalEvent{.number = static_cast<int>(info.ssi_signo),
                     .sender_pid = static_cast<pid_t>(info.ssi_pid),
                     .sender_uid = static_cast<uid_t>(info.ssi_uid)};
}

std::optional<SignalEvent> TakeSignal(const UniqueFd& signals) {
  return NextSignal(signals).value_or(std::nullopt);
}

void IgnoreBrokenPipes() {
  MUSTER_CHECK(std::signal(SIGPIPE, SIG_IGN) != SIG_ERR);
}

}  // namespace muster
