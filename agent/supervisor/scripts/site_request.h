#pragma once

// What a program of the site learns of the job that it is run for.
//
// Pure. Invariant: nothing that a user wrote is a variable or an argument; it is lines on standard
// input.

#include <cstdint>

#include "agent/supervisor/attempt/order_file.h"
#include "agent/supervisor/scripts/script_run.h"
#include "scheduler/model/value/ids.h"

namespace muster::agent {

// A run of `script`, which is the job's `what` ("epilog") or that of a step, on the node of that
// place in the allocation. `user` is the user of "as user"; null: ours.
ScriptRun::Request SiteRequest(const SupervisorOrder& order, std::uint32_t node_index,
                               const char* what, const SiteScript& script, StepId step,
                               const JobUser* user);

}  // namespace muster::agent
