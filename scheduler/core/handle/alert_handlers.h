#pragma once

// Alerts that begin and end.
//
// Invariant: the events are the difference between the alerts that last and those of the state, so
// what is reported twice has one effect.

#include "scheduler/core/state/cluster_state.h"
#include "scheduler/core/state/transition.h"
#include "scheduler/model/change/command.h"
#include "scheduler/model/settings/scheduler_config.h"

namespace muster::core {

// A text that changes while the alert lasts is no event.
Transition On(const ClusterState& state, const SettleAlerts& command, Time now,
              const SchedulerConfig& config);

}  // namespace muster::core
