#pragma once

// scancel: ends jobs and steps, or sends them a signal.
//
// Thread promise: the main thread's. Invariants: a job that has ended, or is unknown, is no error
// where it was to end; all ids are sent in one request.

#include "cli/slurm/frame/command.h"

namespace muster::cli::slurm {

int RunScancel(const Call& call);

}  // namespace muster::cli::slurm
