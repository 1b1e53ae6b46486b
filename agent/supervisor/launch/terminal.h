#pragma once

// A pseudo-terminal for a rank (--pty): our end, and the end that becomes its standard streams.
//
// Thread promise: the loop's thread. Invariants: the rank's end belongs to the job's user and no
// other user may write to it; opening it makes it no process's controlling terminal.

#include "absl/status/statusor.h"
#include "agent/supervisor/user_space/job_user.h"
#include "scheduler/model/job/job_spec.h"
#include "scheduler/runtime/unique_fd.h"

namespace muster::agent {

class StepTerminal {
 public:
  // `user`: as whom the rank runs; null: as we do.
  static absl::StatusOr<StepTerminal> Open(const TerminalSize& size, const JobUser* user);

  // Tells the rank as well (SIGWINCH).
  void Resize(const TerminalSize& size) const;

  UniqueFd ours;
  UniqueFd theirs;
};

}  // namespace muster::agent
