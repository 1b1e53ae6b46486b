#include "agent/supervisor/user_space/child_setup.h"

#include <sys/prctl.h>
#include <unistd.h>

#include <csignal>

namespace muster::agent {
namespace {

constexpr int kNotStarted = 127;

}  // namespace

void ResetSignals() {
  for (int signal = 1; signal <= SIGSYS; ++signal) {
    std::signal(signal, SIG_DFL);  // SIGKILL and SIGSTOP refuse, as they should.
  }
  sigset_t none;
  sigemptyset(&none);
  pthread_sigmask(SIG_SETMASK, &none, nullptr);
}

void DieWithParent(pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) {
    _exit(kNotStarted);
  }
}

}  // namespace muster::agent
