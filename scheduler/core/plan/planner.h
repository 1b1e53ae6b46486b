#pragma once

// The cycle: from a snapshot to a plan.
//
// The one function that decides, live and in the simulator. Policy: priority, then first come first
// served; a job that cannot start now keeps later ones waiting, unless it can never start here or
// only on nodes that are away. Thread promise: pure: same bytes in, same bytes out, on every
// machine. Invariants: with a memory of the cycles before, the plan is the same, made sooner.

#include <memory>

#include "scheduler/core/plan/planner_memory.h"
#include "scheduler/model/plan/plan.h"
#include "scheduler/model/plan/snapshot.h"
#include "scheduler/model/settings/scheduler_config.h"

namespace muster::core {

Plan MakePlan(const Snapshot& snapshot, const SchedulerConfig& config);

// The same plan, by way of what the cycles before it found out; the memory is of this cycle then.
Plan MakePlan(std::shared_ptr<const Snapshot> snapshot, const SchedulerConfig& config,
              PlannerMemory& memory);

}  // namespace muster::core
