#pragma once

// The sentence about an elastic job's size: its range, and why it grows or does not.

#include <string>

#include "scheduler/model/job/job.h"
#include "scheduler/model/plan/plan.h"

namespace muster::core {

// "2-8 nodes; stays: 8 would gain 12 s, a change costs 2 min". `resize` is what the last cycle had
// for the job's attempt; null: nothing. REQUIRES: the job is elastic.
std::string ElasticText(const Job& job, const PlannedResize* resize, Time now);

// The entry for the job's attempt; null when there is none.
const PlannedResize* FindResize(const Plan* plan, const Job& job);

}  // namespace muster::core
