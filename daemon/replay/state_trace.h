#pragma once

// The jobs of a state directory as a workload trace, so that a site can replay its own history.
//
// Out of the journal, in order of end: what `muster trace` calls csv. Thread promise: pure but for
// the directory read and what is written. Invariants: a job that never started has no record; of
// one that ran more than once, the last run counts.

#include <functional>
#include <string>

#include "absl/status/status.h"

namespace muster::daemon {

// `write` takes the table piece by piece; an error of its own ends the reading.
absl::Status WriteStateTrace(const std::string& place, const std::string& archive,
                             const std::function<absl::Status(const std::string&)>& write);

}  // namespace muster::daemon
