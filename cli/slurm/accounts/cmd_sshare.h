#pragma once

// sshare.
//
// Thread promise: the main thread's. Invariant: see cli/slurm/frame/command.h.

#include "cli/slurm/frame/command.h"

namespace muster::cli::slurm {

int RunSshare(const Call& call);

}  // namespace muster::cli::slurm
