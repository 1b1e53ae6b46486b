#pragma once

// What the accounting knows of the jobs that others depend on: their outcome, once they have ended.
//
// Thread promise: belongs to the thread of its database. Invariants: found through an index; the
// rows of one call are of one moment when the caller holds a transaction.

#include <vector>

#include "absl/status/statusor.h"
#include "daemon/store/database/database.h"
#include "scheduler/model/job/dependency.h"

namespace muster::daemon {

// One entry for each term that names a job, in their order.
absl::StatusOr<std::vector<TargetHistory>> ReadTargets(Database& database,
                                                       const std::vector<DependencyTerm>& terms);

}  // namespace muster::daemon
