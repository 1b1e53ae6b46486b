#pragma once

// sbatch: submits a batch script.
//
// Thread promise: the main thread's. Invariant: on success the last line of stdout is the job's.

#include "cli/slurm/frame/command.h"

namespace muster::cli::slurm {

int RunSbatch(const Call& call);

}  // namespace muster::cli::slurm
