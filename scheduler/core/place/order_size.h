#pragma once

// Whether the orders of a placement fit into messages (model/job/order_limits).
//
// Each node of an attempt is told the places of all its ranks, and those of the other components of
// a heterogeneous job. Invariants: what these accept makes orders that an agent takes, with any
// program that model/job/program_check accepts.

#include <span>

#include "absl/status/status.h"
#include "scheduler/core/state/tables/job_table.h"
#include "scheduler/model/machine/allocation.h"
#include "scheduler/model/plan/plan.h"

namespace muster::core {

// For starts of one group, or of a plain job. REQUIRES: their jobs are in the table.
bool OrdersFit(const JobTable& jobs, std::span<const PlannedStart> together);

// InvalidArgument for a step whose ranks are too many to be told to a node.
absl::Status CheckStepPlacement(const Allocation& placement);

}  // namespace muster::core
