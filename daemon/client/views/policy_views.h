#pragma once

// Policy as views: what the state holds of it, in the words of the command line.
//
// Called on the controller's thread. Invariants: without rules there are the implied partition and
// the implied QOS.

#include <vector>

#include "scheduler/core/state/cluster_state.h"
#include "scheduler/model/policy/policy_view.h"

namespace muster::daemon {

// All objects of the kind, by name.
std::vector<PolicyView> PolicyViewsOf(const core::ClusterState& state, PolicyKind kind, Time now);
PolicyChangeView ViewOf(const PolicyChanged& change);

}  // namespace muster::daemon
