#pragma once

// Places as people write them, with their home directory and variables at the beginning.
//
// Pure. Invariant: of a remote nothing is expanded.

#include <string>

#include "absl/status/statusor.h"
#include "cli/frame/environment.h"

namespace muster::cli {

// "~/data", "$SCRATCH/data", "${SCRATCH}/data"; anything else stays as it is. NotFound names a
// variable that is not set.
absl::StatusOr<std::string> ExpandPlace(const std::string& place, const Environment& environment);

}  // namespace muster::cli
