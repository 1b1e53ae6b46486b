#pragma once

// This very program as a command for others to start, with the controller that was named to it.
//
// Invariant: what is returned means the same in any directory.

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cli/frame/verb.h"

namespace muster::cli {

// The path of this program.
absl::StatusOr<std::string> OwnProgram();

// The path, the verb, and --controller and --state as they were given.
absl::StatusOr<std::vector<std::string>> OwnCommand(const Invocation& invocation,
                                                    const std::string& verb);

}  // namespace muster::cli
