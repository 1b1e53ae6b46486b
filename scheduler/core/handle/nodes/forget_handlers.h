#pragma once

// Nodes that are gone for good.
//
// Invariants: a node is forgotten only once its agent is silent and nothing is, or may be, held
// there; its id is not given out again.

#include "scheduler/core/state/cluster_state.h"
#include "scheduler/core/state/transition.h"
#include "scheduler/model/change/command.h"
#include "scheduler/model/settings/scheduler_config.h"

namespace muster::core {

Transition On(const ClusterState& state, const ForgetNode& command, Time now,
              const SchedulerConfig& config);

}  // namespace muster::core
