#pragma once

// The script of a replica's job: this program, with the user's script as its input.
//
// Pure. Invariants: the user's script is handed over as it is, but for a line break at its end; the
// lines of options at its beginning stand in the same places, so that errors name them.

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace muster::cli {

std::string ReplicaScript(const std::vector<std::string>& keeper, const std::string& text);

// The same job's script with another script of the user's. FailedPrecondition: it is none of
// ReplicaScript's.
absl::StatusOr<std::string> WithUserScript(const std::string& replica_script,
                                           const std::string& text);

}  // namespace muster::cli
