#pragma once

// --propagate: limits by their names, as the kernel numbers them.
//
// Invariant: a name that this system does not have is left out.

#include <vector>

#include "agent/supervisor/user_space/job_user.h"
#include "scheduler/model/job/job_spec.h"

namespace muster::agent {

// The hard limits of what it returns mean nothing.
std::vector<SessionTraits::Limit> ProcessLimits(const std::vector<ProcessLimit>& limits);

}  // namespace muster::agent
