#pragma once

// What a forked child does first, whether it is to execute a program (launch.h) or to work as a
// user (as_user.h): it drops what it has of our signals, and goes when we go.
//
// Thread promise: async-signal-safe, for the one thread of the child.

#include <sys/types.h>

namespace muster::agent {

// Default actions for all signals, none of them blocked.
void ResetSignals();

// Dies with `parent`, or at once where that is gone already. The kernel forgets it when the process
// changes its user: call it again then.
void DieWithParent(pid_t parent);

}  // namespace muster::agent
