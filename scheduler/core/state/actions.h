#pragma once

// What should be under way for a job: the orders that its nodes must have, whatever they have
// received.
//
// This is all the recovery that there is: the orders are idempotent, and given again when the
// controller starts or an agent comes back. Invariants: nothing is ordered of a node on which the
// attempt has ended.

#include <vector>

#include "scheduler/model/change/effect.h"
#include "scheduler/model/job/job.h"

namespace muster::core {

// On every node of the job.
std::vector<Effect> ActionsFor(const Job& job);

}  // namespace muster::core
