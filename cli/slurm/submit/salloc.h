#pragma once

// salloc: holds an allocation while a command runs here, or until it is given back.
//
// Thread promise: the main thread's. Invariant: all that it says itself goes to stderr.

#include "cli/slurm/frame/command.h"

namespace muster::cli::slurm {

int RunSalloc(const Call& call);

}  // namespace muster::cli::slurm
