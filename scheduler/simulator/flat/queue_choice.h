#pragma once

// Which queue carries out a policy.
//
// Apart from flat/flat_queue, which knows none of those that are made here. Invariant: equal
// policies give queues that behave alike.

#include <cstdint>
#include <memory>

#include "scheduler/simulator/flat/flat_policy.h"
#include "scheduler/simulator/flat/flat_queue.h"

namespace muster::sim {

// REQUIRES: processors > 0, and the policy allows its combination.
std::unique_ptr<FlatQueue> MakeFlatQueue(const FlatPolicy& policy, std::int64_t processors,
                                         Tick now);

}  // namespace muster::sim
