#pragma once

// The site's epilog of an attempt whose supervisor died: run by a process of its own, which then
// records the attempt's end.
//
// The agent starts it when nothing of the attempt is left; like a supervisor it outlives the agent.
// Thread promise: called from main. Invariant: the epilog is begun at most once, by the process
// that holds the claim to it; an end that is recorded is the attempt's last word.

#include "absl/status/status.h"
#include "agent/supervisor/attempt/attempt_directory.h"
#include "scheduler/runtime/clock.h"
#include "scheduler/runtime/log.h"

namespace muster::agent {

// What the end of such an attempt says.
inline constexpr const char* kLostSupervisorText =
    "its supervisor died; what was left of it was killed, its exit status is not known";

// Runs it and records the end, with the fault of the node if it failed. REQUIRES: we hold the claim
// to the epilog.
absl::Status RunLostEpilog(const AttemptDirectory& directory, const Clock& clock,
                           const Logger& log);

}  // namespace muster::agent
