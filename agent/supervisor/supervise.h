#pragma once

// One attempt from its directory to its end: the order read, the supervisor made, the loop turned.
//
// Thread promise: main's. Invariant: an order that cannot be read is recorded as an end, so that
// the controller hears of it.

#include "absl/status/status.h"
#include "agent/supervisor/attempt/attempt_directory.h"
#include "scheduler/runtime/clock.h"
#include "scheduler/runtime/log.h"

namespace muster::agent {

// REQUIRES: the claim is ours. An error says why nothing could be supervised.
absl::Status Supervise(const AttemptDirectory& directory, const Clock& clock, const Logger& log);

}  // namespace muster::agent
