#pragma once

// The commands of scontrol about processes of this machine, and those that Muster has no means for.
//
// Thread promise: the main thread's. Invariant: each returns the exit code.

#include "cli/slurm/control/scontrol_call.h"

namespace muster::cli::slurm {

int ListPids(const ControlCall& call);  // listpids [JOB[.STEP]]
int TellJobOfPid(const ControlCall& call);

// reboot, reconfigure, notify and their like: Slurm's line for what a site has not enabled.
int RefuseNotify(const ControlCall& call);
int RefuseReconfigure(const ControlCall& call);
int RefuseShutdown(const ControlCall& call);

}  // namespace muster::cli::slurm
