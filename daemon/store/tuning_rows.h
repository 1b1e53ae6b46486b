#pragma once

// The rows of tuned kernels: what one node found, for those like it.
//
// No part of the state: nothing is decided by them, and the journal does not tell of them. Thread
// promise: belongs to the thread of its database.

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "daemon/store/database/database.h"
#include "scheduler/model/machine/tuning.h"

namespace muster::daemon {

// Of one kernel, the newest first; "": of all. At most 1,000.
absl::StatusOr<std::vector<Tuning>> ReadTuningRows(Database& database, const std::string& kernel);

}  // namespace muster::daemon
