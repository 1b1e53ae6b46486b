#include "tests/unit/agent/supervisor/attempt_parts.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "agent/supervisor/attempt/journal.h"
#include "agent/supervisor/limits/process_tree.h"

namespace muster::agent {

AttemptParts::AttemptParts()
    : log_(clock_, STDERR_FILENO, LogLevel::kError, false),
      loop_(*EventLoop::Create()),
      reporter_(*loop_, log_,
                *JournalWriter::Open(directory_.Journal(), JobId(7), AttemptNumber(1)), "", "7.1") {
}

AttemptParts::~AttemptParts() {
  while (HasChildren()) {
    SignalDescendants(SIGKILL);
    waitpid(-1, nullptr, 0);
  }
}

void AttemptParts::Reap() {
  siginfo_t info = {};
  while (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid != 0) {
    const pid_t pid = info.si_pid;
    before_reap_(pid);
    int status = 0;
    rusage usage = {};
    if (wait4(pid, &status, 0, &usage) == pid) {
      reaped_(pid, status, usage);
    }
    info = {};
  }
}

void AttemptParts::Turn(std::chrono::milliseconds time) {
  const SteadyTime end = clock_.SteadyNow() + time;
  while (clock_.SteadyNow() < end) {
    loop_->RunAfter(std::chrono::milliseconds(5), [this] { loop_->Stop(); });
    ASSERT_TRUE(loop_->Run().ok());
    Reap();
  }
}

bool AttemptParts::TurnUntil(const std::function<bool()>& condition) {
  for (int i = 0; i < 2000 && !condition(); ++i) {
    Turn(std::chrono::milliseconds(5));
  }
  return condition();
}

bool AttemptParts::Made(const std::string& name) const {
  return std::filesystem::exists(work_ / name);
}

}  // namespace muster::agent
