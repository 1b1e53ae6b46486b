#pragma once

// Telling an attempt to end.
//
// Invariant: all code that ends an attempt does it here, so that the event and the orders to its
// nodes come together.

#include <cstdint>
#include <string>

#include "scheduler/core/state/transition.h"
#include "scheduler/model/change/command.h"
#include "scheduler/model/job/exit_status.h"
#include "scheduler/model/job/job.h"
#include "scheduler/model/value/time.h"

namespace muster::core {

struct AttemptEnd {
  EndCause cause = EndCause::kJobEnding;
  std::string text = {};     // why, for people
  std::uint32_t within = 0;  // as in AttemptEnding
};

// REQUIRES: the job has an attempt.
void EndAttempt(const Job& job, AttemptEnd end, Time now, Transition& transition);

// Sends the nodes the orders that the job needs as it is now.
void OrderActions(const Job& job, Transition& transition);

}  // namespace muster::core
