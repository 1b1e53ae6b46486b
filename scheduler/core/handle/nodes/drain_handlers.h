#pragma once

// Nodes that are taken out of service: by whom, until when, and what becomes of jobs there.
//
// Nothing new starts on a drained node, and what runs there goes on. With a deadline a job that
// runs again when a node fails is ordered to end, as long before as it may take to end, and runs
// again; an elastic one goes on with its other nodes; the rest are asked for a checkpoint, and
// ended at the deadline. With a time until which it is drained the node is resumed then.

#include "scheduler/core/state/cluster_state.h"
#include "scheduler/core/state/transition.h"
#include "scheduler/model/change/command.h"
#include "scheduler/model/settings/scheduler_config.h"

namespace muster::core {

Transition On(const ClusterState& state, const DrainNode& command, Time now,
              const SchedulerConfig& config);

// Resumes nodes whose time has come, and has jobs leave those whose deadline comes.
void KeepDrainTimes(const ClusterState& state, Time now, const SchedulerConfig& config,
                    Transition& transition);

}  // namespace muster::core
