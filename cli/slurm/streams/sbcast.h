#pragma once

// sbcast.
//
// Thread promise: the main thread's. Invariant: see cli/slurm/frame/command.h.

#include "cli/slurm/frame/command.h"

namespace muster::cli::slurm {

int RunSbcast(const Call& call);

// What sbcast has each node run: takes the file from standard input.
int ReceiveBroadcast(const Call& call);

}  // namespace muster::cli::slurm
