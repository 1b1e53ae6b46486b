#include "agent/supervisor/step/step_restore.h"

#include <sys/wait.h>
#include <unistd.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "scheduler/runtime/file.h"
#include "scheduler/runtime/process.h"

namespace muster::agent {
namespace {

bool IsOurChild(pid_t pid) {
  const absl::StatusOr<std::string> text = ReadFile(absl::StrCat("/proc/", pid, "/stat"));
  const absl::StatusOr<ProcessStat> stat =
      text.ok() ? ParseProcessStat(*text) : absl::StatusOr<ProcessStat>(text.status());
  return stat.ok() && stat->parent_pid == getpid();
}

}  // namespace

RestoreProgress TakeReaped(StepRank* rank, pid_t pid, int* wait_status) {
  if (pid != rank->pid) {
    rank->early_end = *wait_status;  // before the one that restored it
    return {};
  }
  const pid_t leader = std::exchange(rank->awaited, 0);
  const bool done = WIFEXITED(*wait_status) && WEXITSTATUS(*wait_status) == 0;
  if (done && rank->early_end.has_value()) {
    rank->settled = true;
    *wait_status = *rank->early_end;
    return {.ended = true};
  }
  if (done && IsOurChild(leader)) {
    rank->pid = leader;
    rank->started_pid = static_cast<std::uint32_t>(leader);
    return {.runs = true};
  }
  const int code = WIFEXITED(*wait_status) ? WEXITSTATUS(*wait_status) : kNotRestored;
  return {.ended = true, .failure = code == 0 ? kNotRestored : code};
}

}  // namespace muster::agent
