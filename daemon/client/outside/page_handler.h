#pragma once

// The calls that draw pictures: what jobs used over time, and what the plan keeps free for whom.
//
// Thread promise: gRPC's threads call in and never wait. Invariant: both show what every user may
// see: no program, no address.

#include "daemon/access/call.h"
#include "daemon/access/methods.h"
#include "daemon/agents/live_usage.h"
#include "daemon/controller/controller.h"
#include "scheduler/model/request/job_questions.h"

namespace muster::daemon {

// Both; what they refer to outlives the answers.
void ServePictures(Methods& methods, Controller& controller, const LiveUsage& usage);

void AnswerShowCurve(const LiveUsage& usage, const Call<ShowCurve>& call, const ShowCurve& asked);
void AnswerShowPlan(Controller& controller, const Call<ShowPlan>& call);

}  // namespace muster::daemon
