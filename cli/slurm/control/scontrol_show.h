#pragma once

// `scontrol show`, and what is asked of the controller beside it.
//
// Thread promise: the main thread's. Invariant: each returns the exit code.

#include "cli/slurm/control/scontrol_call.h"

namespace muster::cli::slurm {

int ShowEntity(const ControlCall& call);
int ShowCompleting(const ControlCall& call);
int PingController(const ControlCall& call);
int WaitForJob(const ControlCall& call);

}  // namespace muster::cli::slurm
