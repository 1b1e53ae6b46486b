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

// A session of its own; every orphan of the job becomes our child; nobody debugs us but root; no
// descriptor but the standard ones.
void Detach();

// Leaves the agent's control group for the one that it names, if it names one: what stays in the
// agent's would be in the way of the next agent.
void JoinOtherSupervisors();

// Claims the attempt and supervises it, or, `epilog`, runs the site's epilog of one whose
// supervisor died. The exit status: 0 recorded, 1 cannot work, 3 somebody else does it.
int RunAttempt(const AttemptDirectory& directory, bool epilog);

}  // namespace muster::agent
