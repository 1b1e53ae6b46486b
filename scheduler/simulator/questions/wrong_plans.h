#pragma once

// Plans that no planner makes: parts of a plan that name other jobs, attempts, victims and nodes
// than they should.
//
// What is taken of one must keep the invariants of the state: the planner is not trusted (ranks
// stay as they were planned). Thread promise: pure but for the sequence.

#include "scheduler/core/state/cluster_state.h"
#include "scheduler/model/plan/plan.h"
#include "scheduler/simulator/random_sequence.h"

namespace muster::sim {

Plan WrongPlan(const core::ClusterState& state, Plan plan, RandomSequence& random);

}  // namespace muster::sim
