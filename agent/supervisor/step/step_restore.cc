// Step: a batch script that goes on from where its processes were saved.
//
// What restores them is started in the script's place, bound and confined as it would be, and the
// processes become its siblings: our children. It ends once they run.
#include <sys/wait.h>
#include <unistd.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "agent/supervisor/step/step.h"
#include "agent/supervisor/step/step_rank.h"
#include "scheduler/runtime/file.h"
#include "scheduler/runtime/process.h"

namespace muster {
namespace {

constexpr int kReadBackAgain = 8;
constexpr int kNotRestored = 126;

// Who is no child of ours is a stranger, whatever the saved images say.
bool IsOurChild(pid_t pid) {
  const absl::StatusOr<std::string> text = ReadFile(absl::StrCat("/proc/", pid, "/stat"));
  const absl::StatusOr<ProcessStat> stat =
      text.ok() ? ParseProcessStat(*text) : absl::StatusOr<ProcessStat>(text.status());
  return stat.ok() && stat->parent_pid == getpid();
}

}  // namespace

bool Step::EndsRestored(Rank* rank, pid_t pid, int* wait_status) {
  if (pid != rank->pid) {
    rank->early_end = *wait_status;  // before the one that restored it
    return false;
  }
  const pid_t leader = std::exchange(rank->awaited, 0);
  const bool done = WIFEXITED(*wait_status) && WEXITSTATUS(*wait_status) == 0;
  if (done && rank->early_end.has_value()) {
    rank->settled = true;
    *wait_status = *rank->early_end;
    return true;
  }
  if (done && IsOurChild(leader)) {
    rank->pid = leader;
    rank->started_pid = static_cast<std::uint32_t>(leader);
    TryReadBack(rank, kReadBackAgain);
    CheckStarted();
    return false;
  }
  const int code = WIFEXITED(*wait_status) ? WEXITSTATUS(*wait_status) : kNotRestored;
  verdict_.TakeRestoreFailure(code == 0 ? kNotRestored : code);
  FailRank(rank, kNotRestored, "it could not be restored");
  return true;
}

}  // namespace muster
