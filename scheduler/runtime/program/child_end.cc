#include "scheduler/runtime/program/child_end.h"

#include <poll.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>

#include "absl/status/statusor.h"
#include "scheduler/runtime/process.h"
#include "scheduler/runtime/unique_fd.h"

namespace muster {

int AwaitEnd(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

bool EndsWithin(pid_t child, std::chrono::milliseconds patience) {
  const absl::StatusOr<UniqueFd> ends = OpenChildPidfd(child);
  const auto until = std::chrono::steady_clock::now() + patience;
  for (;;) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
    pollfd watched = {ends.ok() ? ends->get() : -1, POLLIN, 0};
    const int ready =
        poll(&watched, 1, static_cast<int>(std::max(left, std::chrono::milliseconds(0)).count()));
    if (ready >= 0 || errno != EINTR) {
      return ready > 0;
    }
  }
}

int ShellCode(int status) {
  return WIFSIGNALED(status) ? kShellSignalBase + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace muster
