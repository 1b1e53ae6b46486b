#pragma once

// Everything that descends from this process, found through /proc and signalled without hitting a
// stranger.
//
// The supervisor is a child subreaper, so whatever a job starts, however it detaches, stays below
// it. A pid is signalled through a pidfd, after a check that it still descends from us. Thread
// promise: one thread.

#include <sys/types.h>

#include <vector>

namespace muster::agent {

// The pids below `root`, parents before children. A process that starts or ends meanwhile may be
// missed: repeat until nothing is left.
std::vector<pid_t> Descendants(pid_t root);

// Whether this process has any child, of which one that has ended counts until it is reaped.
bool HasChildren();

// 0: it is gone.
pid_t ParentOf(pid_t pid);
// That `pid` is below this process, however far.
bool DescendsFromUs(pid_t pid);

// Sends `signal` (and SIGCONT after it, so that a stopped process takes it) to every descendant of
// this process; returns how many there were.
int SignalDescendants(int signal);

// Sends SIGSTOP to every descendant that is not stopped; returns how many those were. One that the
// kernel does not let go of (state D) stops before it runs a line of its own and counts as stopped.
int StopDescendants();

}  // namespace muster::agent
