#pragma once

// How a child process of ours ended.
//
// Thread promise: safe from any thread; waits. Invariant: when it returns the child has been
// reaped.

#include <sys/types.h>

namespace muster {

// Its status, as waitpid(2) says it; 0 where it is no child of ours, or was reaped before.
int AwaitEnd(pid_t child);

}  // namespace muster
