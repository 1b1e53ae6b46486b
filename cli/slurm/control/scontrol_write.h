#pragma once

// scontrol write.
//
// Thread promise: the main thread's. Invariant: what is written is what was submitted, byte by
// byte.

#include "cli/slurm/control/scontrol_call.h"

namespace muster::cli::slurm {

int WriteEntity(const ControlCall& call);

}  // namespace muster::cli::slurm
