#pragma once

// Why the components of a heterogeneous job wait: their own blockers, and one another.
//
// Thread promise: pure. Invariants: a component without a blocker of its own names the first that
// has one.

#include <cstdint>
#include <vector>

#include "scheduler/model/plan/plan.h"
#include "scheduler/model/plan/snapshot.h"

namespace muster {

// It waits for the component of that place; for all of `offset` together where none is named.
Reason WaitsFor(JobId component, std::size_t offset, ReasonClass verdict);

// Leaves the group waiting in the plan, or drops all of it where one component is to end.
// REQUIRES: some component has blockers; `blockers` is parallel to `group`.
void LeaveBlockedGroup(const std::vector<const WaitingJob*>& group,
                       std::vector<std::vector<Reason>> blockers, Plan& plan);

}  // namespace muster
