#pragma once

// Slots of the shared file system: which attempt may write a checkpoint to it now.
//
// Where the number of jobs that write at once is limited, or their bytes a second, the jobs whose
// checkpoint is due get a slot in order of the work that they would lose by a failure: the time
// since their last checkpoint began, times the hardware threads that they have; ties to the lower
// job. (A single job that alone needs more than the bandwidth has its slot when no other job has
// one.) A slot ends with the commit, or when that takes too long. Invariants: slots that are given
// keep within both limits, but for one that is alone; with neither limit every attempt is free.

#include <vector>

#include "scheduler/core/state/cluster_state.h"
#include "scheduler/core/state/transition.h"
#include "scheduler/model/change/command.h"
#include "scheduler/model/settings/scheduler_config.h"

namespace muster::core {

// What is looked at of an attempt that checkpoints.
struct WriteClaim {
  JobId job;
  bool writing = false;                // it has a slot
  bool due = false;                    // it would write
  std::int64_t at_risk = 0;            // milliseconds of hardware threads
  std::uint64_t bytes_per_second = 0;  // as its last checkpoint was written; 0: not known
};

// Those of `claims` that are to write now: those that do already, and others as far as they fit.
std::vector<JobId> WritersNow(std::vector<WriteClaim> claims, const CheckpointPolicy& policy);

// Advice for every attempt whose slot changed.
void GiveWriteSlots(const ClusterState& state, Time now, const SchedulerConfig& config,
                    Transition& transition);

}  // namespace muster::core
