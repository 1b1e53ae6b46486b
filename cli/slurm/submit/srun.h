#pragma once

// srun: runs a step in the job that it is called in, or a job of its own.
//
// Thread promise: the main thread's. Invariant: the exit code is the highest of all tasks, 128 + N
// for signal N.

#include "cli/slurm/frame/command.h"

namespace muster::cli::slurm {

int RunSrun(const Call& call);

}  // namespace muster::cli::slurm
