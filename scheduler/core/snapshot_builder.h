#pragma once

// From the state to the picture that a pass looks at.
//
// Called on the controller's thread; what it returns is handed to the planner's. Thread promise:
// pure. Invariants: the same state and the same `now` make the same snapshot, in queue order.

#include <memory>

#include "scheduler/core/cluster_state.h"
#include "scheduler/model/plan.h"
#include "scheduler/model/snapshot.h"

namespace muster {

// `last` is the plan of the pass before, if there was one: its reservations are kept to. `network`
// is the configured one, if any.
std::shared_ptr<const Snapshot> BuildSnapshot(const ClusterState& state, Time now,
                                              const Plan* last = nullptr,
                                              std::shared_ptr<const Network> network = nullptr);

}  // namespace muster
