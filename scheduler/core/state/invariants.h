#pragma once

// What must hold of every state, checked by recomputing it.
//
// Run after every step in tests and in the simulator, and by the controller at start.

#include <optional>
#include <string>

#include "scheduler/core/state/cluster_state.h"

namespace muster::core {

// The first invariant that does not hold, as a sentence; nothing when all hold:
//  1. what is taken of a node is the sum over its jobs and quarantined attempts;
//  2. no hardware thread and no GPU share is given to two jobs (what a quarantined attempt holds
//  was given by another controller, and may meet a job's);
//  3. a job has an attempt exactly while it holds resources, with a run for each node;
//  4. no job in the state is in a terminal state; every waiting job is in the pending set and no
//  other; running elements of throttled arrays are counted;
//  5. ids given out are below the next one;
//  6. ranks are numbered 0..n-1 and lie within their node's part, with their memory nodes and GPUs;
//  7. where a job lets jobs of its user alone on its nodes, there are no others.
std::optional<std::string> BrokenInvariant(const ClusterState& state);

}  // namespace muster::core
