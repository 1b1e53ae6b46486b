#pragma once

// Counterfactuals: single changes of a waiting job's request with which it would start sooner.
//
// Each is found by planning again, on the same snapshot, with that one thing changed; later jobs
// are left out, since they cannot delay it. A heterogeneous job is one job here, whichever of its
// components is named: it starts when all do. Thread promise: pure; takes as long as several
// cycles. Invariants: every suggested change starts the job earlier than its present request.

#include <vector>

#include "scheduler/model/plan/explanation.h"
#include "scheduler/model/plan/reason.h"
#include "scheduler/model/plan/snapshot.h"
#include "scheduler/model/settings/scheduler_config.h"

namespace muster::core {

// When and where a waiting job would start if all run to their limits.
struct Forecast {
  Time start = kNoTime;  // now, later, or kNoTime: unknown
  std::vector<NodeId> nodes;
  Reason reason;  // why not now
};

// Of a job that is not in the snapshot: nothing.
Forecast ForecastOf(const Snapshot& snapshot, JobId job, const SchedulerConfig& config);

// The changes that help, the earliest start first, of a heterogeneous job's components each for
// itself ("component 1: --ntasks=2"). Empty for a job that is not in the snapshot.
std::vector<Suggestion> SuggestChanges(const Snapshot& snapshot, JobId job,
                                       const SchedulerConfig& config);

}  // namespace muster::core
