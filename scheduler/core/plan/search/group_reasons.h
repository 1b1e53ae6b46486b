#pragma once

// Why the components of a heterogeneous job wait: their own blockers, and one another.
//
// Invariants: a component without a blocker of its own names the first that has one.

#include <cstdint>
#include <vector>

#include "scheduler/model/plan/plan.h"
#include "scheduler/model/plan/snapshot.h"

namespace muster::core {

// It waits for the component of that place; for all of `offset` together where none is named.
Reason WaitsFor(JobId component, std::size_t offset, ReasonClass verdict);

// How a group waits of which some component may not start.
struct BlockedGroup {
  std::vector<LeftWaiting> waiting;  // one for each component
  std::vector<PlannedDrop> drops;    // all of them, where one component is to end
};
// REQUIRES: some component has blockers; `blockers` is parallel to `group`.
BlockedGroup WaitBlocked(const std::vector<const WaitingJob*>& group,
                         std::vector<std::vector<Reason>> blockers);

}  // namespace muster::core
