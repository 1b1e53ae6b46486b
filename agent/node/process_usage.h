#pragma once

// What processes have used so far, by /proc (proc(5)): of each of some processes, all that descends
// from it.
//
// One look at every process of the machine serves any number of trees. Invariants: a process counts
// for the nearest of the roots above it; CPU time of processes that have ended is their parents'
// (which waited for them), and so it stays in the tree.

#include <sys/types.h>

#include <map>
#include <set>
#include <string>

#include "agent/node/files/file_system_meter.h"
#include "agent/node/process_table.h"
#include "scheduler/model/job/exit_status.h"

namespace muster::agent {

// Of each root that is there, what is below it: CPU time, the largest resident set, and as
// group_memory the sum of them, in which a page that several share counts for each. A root's own
// CPU time and memory are not counted. What was read from and written to storage is that of the
// root, too, because the kernel does not tell its own from that of the children it waited for;
// nothing where the kernel does not count, or hides a process's from us. As io_blocked the longest
// wait of any first thread: nothing where the kernel counts no delays
// (/proc/sys/kernel/task_delayacct, off unless asked for since Linux 5.14). What was read by calls
// is that of the root, too: of a supervisor, the output that passes through it. `io`, if given,
// gets what each process below a root read and wrote.
std::map<pid_t, Usage> UsageBelow(const std::set<pid_t>& roots, const ProcessTable& table,
                                  const std::string& proc = "/proc", TreesIo* io = nullptr);

// CPU time that all of the machine has spent since it started on other than idling and waiting; 0
// where it does not say.
Duration BusyTime(const std::string& proc = "/proc");

}  // namespace muster::agent
