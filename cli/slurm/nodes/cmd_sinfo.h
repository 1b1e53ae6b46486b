#pragma once

// sinfo.
//
// Thread promise: the main thread's. Invariant: see cli/slurm/frame/command.h.

#include "cli/slurm/frame/command.h"

namespace muster::cli::slurm {

int RunSinfo(const Call& call);

}  // namespace muster::cli::slurm
