#pragma once

// Inner ranks that do not ask for their place: those of MPICH's `mpiexec`, the workers of
// `torchrun`. They are found among the processes below this one by what their launchers put into
// their environment.
//
// Thread promise: one thread. Invariant: what a rank has started itself is no rank.

#include <sys/types.h>

#include <string>
#include <vector>

#include "agent/supervisor/mpirun/launcher_environment.h"
#include "scheduler/model/job/job_spec.h"

namespace muster::agent {

struct FoundRank {
  pid_t pid = 0;
  InnerRank rank;
  std::string hydra_binding;  // what MPICH's proxy read of the binding of all its ranks
};

// That the program is a daemon of an `mpiexec` of MPICH or Intel MPI.
bool IsHydra(const Program& program);
// That, or that it is another launcher of such ranks, as far as its words or its script tell.
bool StartsInnerRanks(const Program& program);

// Those that are there now.
std::vector<FoundRank> FindInnerRanks();

// The rank that a process with such an environment is; `launcher` empty: none.
FoundRank RankOfEnvironment(const std::string& environ_text);

}  // namespace muster::agent
