#pragma once

// How a child process of ours ended.
//
// Thread promise: safe from any thread; waits. Invariant: when AwaitEnd returns the child has been
// reaped.

#include <sys/types.h>

#include <chrono>

namespace muster {

// Its status, as waitpid(2) says it; 0 where it is no child of ours, or was reaped before.
int AwaitEnd(pid_t child);

// Whether it ends in that time; it is not reaped.
bool EndsWithin(pid_t child, std::chrono::milliseconds patience);

// Such a status in one number, as shells say it: the exit code, or this and the signal's number.
inline constexpr int kShellSignalBase = 128;
int ShellCode(int status);

}  // namespace muster
