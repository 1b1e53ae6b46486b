#pragma once

// What an `mpirun` in a job's script needs to start ranks on the job's nodes: a list of them, and a
// program that does there what ssh would do.
//
// Thread promise: one owner. Invariants: the list is readable by everybody and writable by us; it
// names the job's nodes with as many slots as it has tasks there.

#include <string>

#include "absl/status/status.h"
#include "agent/supervisor/job_user.h"
#include "scheduler/model/allocation.h"

namespace muster {

// `muster-rsh`, beside the supervisor's own file or in its libexec; empty: it is not there.
std::string FindRemoteShell(const std::string& supervisor);

// In the form of Open MPI and MPICH. A remark tells muster-rsh how many CPUs there are on a node.
std::string HostfileOf(const Allocation& allocation);
// For its reader alone: `user`, or us when that is null.
absl::Status WriteHostfile(const std::string& path, const Allocation& allocation,
                           const JobUser* user);

}  // namespace muster
