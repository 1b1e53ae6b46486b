#pragma once

// Failures of nodes out of a file: a line each, "time,node,repair" in seconds, plain or compressed.
//
// The first line names the columns; times are the trace's, in any order. Errors are one line:
// "FILE:LINE: WHAT: MEND".

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "scheduler/simulator/workload/node_failures.h"

namespace muster::sim {

absl::StatusOr<std::vector<LoggedFailure>> ReadFailureLog(const std::string& path);

}  // namespace muster::sim
