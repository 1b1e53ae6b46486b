#pragma once

// A batch script that goes on from where its processes were saved.
//
// What restores them is started in the script's place, bound and confined as it would be, and the
// processes become its siblings: our children. It ends once they run. Thread promise: the loop's
// thread. Invariant: who is no child of ours is a stranger, whatever the saved images say.

#include <sys/types.h>

#include "agent/supervisor/step/step_rank.h"

namespace muster::agent {

struct RestoreProgress {
  bool runs = false;   // the restored process is the rank's from now on
  bool ended = false;  // the rank has ended, with the wait status
  int failure = 0;     // and with this code it could not be restored
};

inline constexpr int kNotRestored = 126;

// `pid`, which is the restorer or the awaited process of `rank`, was reaped with `*wait_status`,
// which becomes the rank's where it has ended.
RestoreProgress TakeReaped(StepRank* rank, pid_t pid, int* wait_status);

}  // namespace muster::agent
