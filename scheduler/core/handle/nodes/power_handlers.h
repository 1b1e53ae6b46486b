#pragma once

// Nodes that are switched off and on: what is ordered, and what becomes of the orders.
//
// What power_watch proposes is judged again by the state as it is: a node that is not idle any more
// stays on. Invariants: (1) no node on which anything runs is ordered to be switched off; (2) one
// that does not come up in time is drained, so that nobody waits for it, until an operator resumes
// it, also where its agent registers later.

#include <string>

#include "scheduler/core/state/cluster_state.h"
#include "scheduler/core/state/transition.h"
#include "scheduler/model/change/command.h"
#include "scheduler/model/settings/scheduler_config.h"

namespace muster::core {

Transition On(const ClusterState& state, const SwitchNodes& command, Time now,
              const SchedulerConfig& config);

// The node registers with this boot id: one that was off, or booted, is on.
void NoticePower(const ClusterState& state, const Node& node, const std::string& boot_id, Time now,
                 Transition& transition);
// An operator resumes the node: one that did not come up is tried again when it is needed.
void TryPowerAgain(const ClusterState& state, const Node& node, Time now, Transition& transition);

}  // namespace muster::core
