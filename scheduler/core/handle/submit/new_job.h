#pragma once

// What a submission says once, before its spec is checked: choices that the scheduler has, and what
// follows from who asks.
//
// Invariants: a spec that comes from here says --prefer and --time-min as alternatives, of which
// the first is what was asked for best; a job of nobody who may raise priorities has no negative
// nice value.

#include <vector>

#include "absl/status/status.h"
#include "scheduler/core/state/cluster_state.h"
#include "scheduler/model/change/actor.h"
#include "scheduler/model/job/job_spec.h"
#include "scheduler/model/machine/machine.h"
#include "scheduler/model/settings/scheduler_config.h"

namespace muster::core {

// A share of a GPU that was asked for by memory (gpu_share_memory), as a part of one: sets it, and
// how much memory its GPUs have at the least, from the GPUs of `machines`, so that what the request
// then takes is no less. FailedPrecondition: none of the type has so much memory. A request without
// such a share stays as it is.
absl::Status FillGpuShare(const std::vector<const Machine*>& machines, ResourceRequest& request);
// The same of a new job and its alternatives, from the nodes of the cluster; before BeginNew.
absl::Status FillGpuShares(const ClusterState& state, JobSpec& spec);

// For any new job, and each component of one: whose GPUs its tasks see, and its fixed priority.
// Errors: INVALID_ARGUMENT for a negative nice value of a user who is no operator.
absl::Status BeginNew(const Actor& by, const SchedulerConfig& config, JobSpec& spec);

// For components of a heterogeneous job, which start together or not at all: --prefer and
// --time-min are recorded as options without effect.
void RecordChoices(JobSpec& spec);

// --prefer and --time-min. For a job that is not heterogeneous, before Normalise.
absl::Status AddChoices(const SchedulerConfig& config, JobSpec& spec);

}  // namespace muster::core
