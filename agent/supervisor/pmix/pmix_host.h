#pragma once

// The process of the job's user that serves PMIx, from within: loads the module, and passes on what
// its supervisor asks and what ranks say (pmix_process.h has the other end).
//
// Thread promise: one call in the life of a process that has no other thread yet. Invariants: it
// ends when the supervisor closes the socket or goes, and has removed its steps' files then; what a
// rank said is in the socket before the rank goes on; no signal but SIGKILL and SIGSTOP moves it.

#include <string>

namespace muster::agent {

// Serves the supervisor at descriptor `socket` with the module in `module_dir`; returns the
// process's exit status.
int ServePmix(int socket, const std::string& module_dir);

}  // namespace muster::agent
