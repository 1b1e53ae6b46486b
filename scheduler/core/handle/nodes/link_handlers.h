#pragma once

// When the link between two switches is narrow, and when it is one like others again.
//
// Pure. Invariants: a link that becomes narrow joins two switches of the network, neither above the
// other; who asks for what is so already changes nothing.

#include "scheduler/core/state/cluster_state.h"
#include "scheduler/core/state/transition.h"
#include "scheduler/model/change/command.h"
#include "scheduler/model/settings/scheduler_config.h"

namespace muster::core {

// REQUIRES: `command.link_to` is not empty.
Transition NarrowOrResume(const ClusterState& state, const DrainNode& command, Time now,
                          const SchedulerConfig& config);

}  // namespace muster::core
