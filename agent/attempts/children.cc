#include "agent/attempts/children.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "absl/strings/str_cat.h"
#include "scheduler/base/status.h"
#include "scheduler/runtime/file.h"
#include "scheduler/runtime/unique_fd.h"

namespace muster::agent {
namespace {

std::string DescribeEnd(int status) {
  if (WIFSIGNALED(status)) {
    return absl::StrCat("was killed by signal ", WTERMSIG(status));
  }
  return absl::StrCat("exited with code ", WEXITSTATUS(status));
}

}  // namespace

absl::Status Children::BecomeSubreaper() {
  if (prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0) {
    return absl::ErrnoToStatus(errno, "cannot become the subreaper of our descendants");
  }
  return absl::OkStatus();
}

absl::StatusOr<pid_t> Children::SpawnSupervisor(const std::string& program,
                                                const std::vector<std::string>& environment,
                                                const AttemptDirectory& directory,
                                                const char* what) {
  const std::string log = directory.Log();
  const UniqueFd input(open("/dev/null", O_RDONLY | O_CLOEXEC));
  const UniqueFd output(
      open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!input.valid() || !output.valid()) {
    return absl::ErrnoToStatus(errno, absl::StrCat(log, ": cannot open"));
  }
  SpawnRequest request;
  request.program = program;
  request.arguments = {program, what, directory.path()};
  request.environment = environment;
  request.fds = {{.from = input.get(), .to = STDIN_FILENO},
                 {.from = output.get(), .to = STDOUT_FILENO},
                 {.from = output.get(), .to = STDERR_FILENO}};
  request.new_session = true;
  return SpawnOwn(request);
}

absl::StatusOr<pid_t> Children::SpawnOwn(const SpawnRequest& request) {
  ASSIGN_OR_RETURN(const pid_t pid, Spawn(request));
  supervisors_.insert(pid);
  return pid;
}

void Children::AddIfOurs(pid_t pid) {
  const absl::StatusOr<std::string> text = ReadFile(absl::StrCat("/proc/", pid, "/stat"));
  const absl::StatusOr<ProcessStat> stat =
      text.ok() ? ParseProcessStat(*text) : absl::StatusOr<ProcessStat>(text.status());
  if (stat.ok() && stat->parent_pid == getpid()) {
    supervisors_.insert(pid);
  }
}

void Children::Reap() {
  int status = 0;
  for (pid_t pid = waitpid(-1, &status, WNOHANG); pid > 0; pid = waitpid(-1, &status, WNOHANG)) {
    if (supervisors_.erase(pid) != 0 && forgotten_.erase(pid) == 0) {
      ends_[pid] = DescribeEnd(status);
    }
  }
}

std::optional<std::string> Children::TakeEnd(pid_t pid) {
  const auto found = ends_.find(pid);
  if (found == ends_.end()) {
    return std::nullopt;
  }
  std::string end = std::move(found->second);
  ends_.erase(found);
  return end;
}

void Children::Forget(pid_t pid) {
  ends_.erase(pid);
  if (supervisors_.count(pid) != 0) {
    forgotten_.insert(pid);
  }
}

}  // namespace muster::agent
