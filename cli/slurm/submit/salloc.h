#pragma once

// salloc: holds an allocation while a command runs here, or until it is given back.
//
// Thread promise: the main thread's. Invariant: all that it says itself goes to stderr.

#include "cli/run/alloc_session.h"
#include "cli/slurm/frame/command.h"

namespace muster::cli::slurm {

// Says nothing of an allocation while it is held.
AllocTexts QuietAllocTexts();

int RunSalloc(const Call& call);

}  // namespace muster::cli::slurm
