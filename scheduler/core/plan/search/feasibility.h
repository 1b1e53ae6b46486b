#pragma once

// Why a job does not start: looks at every node and counts what each of them lacks.
//
// Invariants: a reason that it makes has a shortage for every node that cannot take the job's
// share, and the class `never` exactly when the job fits on no arrangement of the registered nodes.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "scheduler/core/plan/availability/availability.h"
#include "scheduler/core/plan/availability/need.h"
#include "scheduler/model/job/job_spec.h"
#include "scheduler/model/plan/reason.h"
#include "scheduler/model/plan/snapshot.h"

namespace muster::core {

// Why the job cannot start at `now` on the nodes that it may use, as the cycle has left them so
// far. REQUIRES: `availability` is of these nodes and finds no opening now.
Reason WhyNotNow(const std::vector<NodeSnapshot>& nodes, const Availability& availability,
                 const Need& need, Time now);

// Why the job fits on no arrangement of these nodes, even when they are all up and empty; nothing
// when it does.
std::optional<Reason> WhyNever(const std::vector<NodeSnapshot>& nodes,
                               const ResourceRequest& request);

// What one node lacks of its share of the job; nothing when it could take it.
std::vector<Shortage> ShortagesOf(const NodeSnapshot& node, const ResourceRequest& request);

}  // namespace muster::core
