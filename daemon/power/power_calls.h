#pragma once

// From effects to calls of programs: nodes of one class that are switched the same way share one.
//
// Pure. Invariants: calls are in the order of the classes, those that switch off first; a node of a
// class that is no longer configured is left alone.

#include <vector>

#include "daemon/power/power_programs.h"
#include "scheduler/core/state/cluster_state.h"
#include "scheduler/model/change/effect.h"
#include "scheduler/model/plan/plan.h"
#include "scheduler/model/settings/scheduler_config.h"

namespace muster::daemon {

// `plan`: the last one, for the jobs that wait for nodes; null: none.
std::vector<PowerCall> PowerCallsOf(const core::ClusterState& state,
                                    const std::vector<Effect>& effects, const Plan* plan,
                                    const SchedulerConfig& config);

}  // namespace muster::daemon
