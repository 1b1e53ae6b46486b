#pragma once

// The jobs of a stretch of time: those that live, and those that ended since.
//
// Thread promise: as Connection's. Invariant: each job comes once, also one that ended between the
// two questions; those that live come first.

#include <vector>

#include "absl/status/statusor.h"
#include "cli/controller/connection.h"
#include "scheduler/model/view/view.h"

namespace muster::cli {

// `question` says which jobs, and since when of those that ended.
absl::StatusOr<std::vector<JobView>> JobsSince(Connection& connection, const ListHistory& question);

// Both lists as one. A job of both is the one that lived.
std::vector<JobView> EachOnce(std::vector<JobView> live, std::vector<JobView> ended);

}  // namespace muster::cli
