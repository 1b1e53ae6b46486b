#pragma once

// GPUs that are divided otherwise: what is ordered, and what becomes of the orders.
//
// What plan/mig_demand proposes is judged again by the state as it is. Invariants: (1) no GPU that
// anything uses is ordered to be divided; (2) from the wish to the agent's word no job gets a part
// of it; (3) an order whose agent says nothing of it is sent again whenever that registers.

#include "scheduler/core/state/cluster_state.h"
#include "scheduler/core/state/transition.h"
#include "scheduler/model/change/command.h"
#include "scheduler/model/machine/node.h"
#include "scheduler/model/settings/scheduler_config.h"

namespace muster::core {

Transition On(const ClusterState& state, const LayOutGpus& command, Time now,
              const SchedulerConfig& config);

// The node registers: an order of before was carried out, failed, or is to be sent again.
void NoticeLayouts(const Node& node, const Registration& registration, Time now,
                   Transition& transition);

}  // namespace muster::core
