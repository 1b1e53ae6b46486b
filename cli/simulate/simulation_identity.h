#pragma once

// What a simulation is of, in one line: what must be the same for its decisions to hold again.
//
// The bytes of the trace, every option that bears on which job starts when, the cluster with what
// its file names, and the version of muster. Where results go is not among them. Thread promise:
// reads files; else pure. Invariants: equal simulations give equal lines.

#include <string>

#include "absl/status/statusor.h"
#include "cli/frame/verb.h"
#include "cli/simulate/simulate_options.h"

namespace muster::cli {

// InvalidArgument where the trace cannot be read a second time.
absl::StatusOr<std::string> SimulationIdentity(const Invocation& invocation,
                                               const SimulateOptions& options);

}  // namespace muster::cli
