#pragma once

// Commands of operators, of their configuration and of the controller's own watches, aimed at the
// nodes, the GPUs and the rules that a state has.
//
// Thread promise: pure but for the sequence. Invariant: the same sequence and state give the same
// command.

#include "scheduler/core/state/cluster_state.h"
#include "scheduler/model/change/command.h"
#include "scheduler/model/value/time.h"
#include "scheduler/simulator/random_sequence.h"

namespace muster::sim {

Command DrawOrdered(const core::ClusterState& state, Time now, RandomSequence& random);

}  // namespace muster::sim
