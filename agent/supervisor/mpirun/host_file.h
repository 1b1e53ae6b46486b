#pragma once

// What an `mpirun` in a job's script needs to start ranks on the job's nodes: a list of them, and a
// program that does there what ssh would do.
//
// Thread promise: one owner. Invariants: every user may read the list, and only we may write it; it
// names the job's nodes with as many slots as it has tasks there.

#include <string>

#include "absl/status/status.h"
#include "agent/supervisor/user_space/job_user.h"
#include "scheduler/model/machine/allocation.h"

namespace muster::agent {

// `muster-rsh`, beside the supervisor's own file or in its libexec; empty: it is not there.
std::string FindRemoteShell(const std::string& supervisor);
// `muster-rank`, which lies beside muster-rsh; empty: it is not there.
std::string RankProgram(const std::string& remote_shell);

// In the form of Open MPI. A remark tells muster-rsh how many CPUs there are on a node.
std::string HostfileOf(const Allocation& allocation);
// In Hydra's, which knows no slots: HOST:RANKS.
std::string HydraHostfileOf(const Allocation& allocation);
// Where that lies, and where ranks that a launcher starts ask for their places, in an attempt whose
// host file is `hostfile`.
std::string HydraHostfile(const std::string& hostfile);
std::string RankSocket(const std::string& hostfile);

// Writes both. For their reader alone: `user`, or us when that is null.
absl::Status WriteHostfile(const std::string& path, const Allocation& allocation,
                           const JobUser* user);

}  // namespace muster::agent
