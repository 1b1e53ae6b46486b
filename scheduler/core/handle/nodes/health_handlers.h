#pragma once

// Handlers for the health of nodes: when one is checked, and what follows from what was found.
//
// A node is checked only while no job is on it, few nodes at a time and never two on one host. Slow
// once, it is checked again; slow `confirm` times in a row, or found defect, it is drained, unless
// too much of its class is drained already. A node that its health drained, and no other, is
// resumed by the first check that cycles.

#include <string>

#include "scheduler/core/state/cluster_state.h"
#include "scheduler/core/state/transition.h"
#include "scheduler/model/change/command.h"
#include "scheduler/model/settings/scheduler_config.h"

namespace muster::core {

Transition On(const ClusterState& state, const CheckNodeHealth& command, Time now,
              const SchedulerConfig& config);
Transition On(const ClusterState& state, const TakeHealthReport& command, Time now,
              const SchedulerConfig& config);
Transition On(const ClusterState& state, const TickHealth& command, Time now,
              const SchedulerConfig& config);

// The node's health in a word or a few: "good", "slow: memory bandwidth", "checking"; empty: it was
// never checked.
std::string HealthWord(const NodeHealth& health);

}  // namespace muster::core
