#pragma once

// The multifactor priority (Slurm's priority/multifactor): site + sum of weight * factor - nice.
//
// slurm.schedmd.com/priority_multifactor.html. Factors are from 0 to 1; the result has 32 bits and
// is 1 at least, because 0 means held. Each product is rounded down to a whole point by itself (and
// not their sum, as Slurm does), so that the terms that are shown add up. Invariants: integers
// only; a larger factor never gives a smaller priority.

#include <cstdint>

#include "scheduler/model/policy/priority.h"
#include "scheduler/model/value/time.h"

namespace muster::core {

// Site and nice beyond ten times 2^32 count as that.
Priority MakePriority(const PriorityRequest& request);

// part / whole, rounded down, 1 at most; 0 when there is no whole. For job size and TRES (of what
// the cluster has), partition and QOS (of the highest priority of any).
Factor RatioFactor(std::uint64_t part, std::uint64_t whole);

// How long a job has waited of `max_age` (PriorityMaxAge), 1 at most; 0 for a time that has not
// come, 1 when max_age is 0 and it has waited at all.
Factor AgeFactor(Duration waited, Duration max_age);

}  // namespace muster::core
