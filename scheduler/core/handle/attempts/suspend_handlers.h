#pragma once

// What suspending and resuming a job do, by hand and by a plan.
//
// A job is ordered to give its cores back; they are free once every node reports that nothing of it
// can run there; it has the very same ones again when a plan says so. It keeps its memory, its GPUs
// and its licences, and counts in limits. Part of core/handle. Invariants: a request that comes
// twice makes events once.

#include <string>

#include "scheduler/core/state/cluster_state.h"
#include "scheduler/core/state/transition.h"
#include "scheduler/model/change/command.h"
#include "scheduler/model/job/job.h"
#include "scheduler/model/settings/scheduler_config.h"

namespace muster::core {

Transition On(const ClusterState& state, const SuspendJob& command, Time now,
              const SchedulerConfig& config);

// Tells the running job to give its cores back. REQUIRES: it is RUNNING.
void Suspended(const Job& job, SuspendedBy by, std::string text, Time now, Transition& transition);
// Lets the suspended job run again. REQUIRES: a Verifier accepted it.
void Resumed(const Job& job, Time now, Transition& transition);

}  // namespace muster::core
