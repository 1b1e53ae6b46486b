#pragma once

// What a submission says once, before its spec is checked: choices that the scheduler has, and what
// follows from who asks.
//
// Invariants: a spec that comes from here says --prefer and --time-min as alternatives, of which
// the first is what was asked for best; a job of nobody who may raise priorities has no negative
// nice value.

#include "absl/status/status.h"
#include "scheduler/model/change/actor.h"
#include "scheduler/model/job/job_spec.h"
#include "scheduler/model/settings/scheduler_config.h"

namespace muster::core {

// For any new job, and each component of one: whose GPUs its tasks see, and its fixed priority.
// Errors: INVALID_ARGUMENT for a negative nice value of a user who is no operator.
absl::Status BeginNew(const Actor& by, const SchedulerConfig& config, JobSpec& spec);

// For components of a heterogeneous job, which start together or not at all: --prefer and
// --time-min are recorded as options without effect.
void RecordChoices(JobSpec& spec);

// --prefer and --time-min. For a job that is not heterogeneous, before Normalise.
absl::Status AddChoices(const SchedulerConfig& config, JobSpec& spec);

}  // namespace muster::core
