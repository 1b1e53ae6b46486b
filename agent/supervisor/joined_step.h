#pragma once

// A step of one rank that enters the running job beside what runs there (`muster exec`).
//
// Its program says what it has of the job (scheduler/model/value/joined_rank.h); here that is put
// into its plan. Pure. Invariant: a plan whose program says nothing is left as it is.

#include "absl/status/status.h"
#include "agent/supervisor/attempt/order_file.h"
#include "agent/supervisor/step/step.h"
#include "agent/supervisor/step/step_plan.h"

namespace muster::agent {

// NotFound when the rank that it names does not run here.
absl::Status JoinJob(const SupervisorOrder& order, const StepMap& running, StepPlan* plan);

}  // namespace muster::agent
