#pragma once

// The commands of scontrol that change something.
//
// Thread promise: the main thread's. Invariant: each returns the exit code; each thing that could
// not be changed gets a line on stderr.

#include "cli/slurm/control/scontrol_call.h"

namespace muster::cli::slurm {

int HoldJobs(const ControlCall& call);
int ReleaseJobs(const ControlCall& call);
int RequeueJobs(const ControlCall& call);
int RequeueHoldJobs(const ControlCall& call);
int TopJobs(const ControlCall& call);
int RebootNodes(const ControlCall& call);
int CancelReboot(const ControlCall& call);
int SuspendJobs(const ControlCall& call);
int ResumeJobs(const ControlCall& call);
int UpdateEntity(const ControlCall& call);
int CreateEntity(const ControlCall& call);
int DeleteEntity(const ControlCall& call);

}  // namespace muster::cli::slurm
