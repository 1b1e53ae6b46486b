#pragma once

// The hash of a state: one number for everything in it that two equal states have in common.
//
// For tests and replays: a state that was replayed, loaded or kept in memory must have the same.
// Invariants: jobs count one by one, however the state keeps them.

#include <cstdint>

#include "scheduler/core/state/cluster_state.h"

namespace muster::core {

std::uint64_t HashOf(const ClusterState& state);

}  // namespace muster::core
