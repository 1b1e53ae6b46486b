#pragma once

// What a second plan of the same moment is made of, which asks what would start if nodes were
// otherwise: power_demand were they on, mig_demand were their GPUs divided otherwise.
//
// Pure. Invariant: the first jobs of the queue are those that the first plan starts, and the first
// that it leaves waiting.

#include <cstddef>
#include <set>
#include <vector>

#include "scheduler/model/plan/plan.h"
#include "scheduler/model/plan/snapshot.h"
#include "scheduler/model/value/ids.h"

namespace muster::core {

// It waits for room on nodes.
bool WaitsForNodes(const LeftWaiting& left);
// What the plan starts, and the first `most` that it leaves waiting (runs of an array's elements as
// one), but for those `refused`.
std::vector<WaitingJob> FirstJobs(const Snapshot& snapshot, const Plan& plan, std::size_t most,
                                  const std::set<JobId>& refused = {});
// The snapshot, with these jobs in the place of those that wait: they may be very many.
Snapshot WithOthersWaiting(const Snapshot& snapshot, std::vector<WaitingJob> waiting);

}  // namespace muster::core
