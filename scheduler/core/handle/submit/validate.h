#pragma once

// From what a user wrote to what a scheduler can work with: checks a spec and fills in what
// follows.
//
// Called by step for each submission, whatever the client has checked before. Invariants: a spec
// that it returns has tasks >= 1, cpus_per_task >= 1, 1 <= min_nodes <= max_nodes <= tasks, and its
// GPUs said per task or per node, never over the whole job.

#include "absl/status/statusor.h"
#include "scheduler/model/job/job_spec.h"
#include "scheduler/model/settings/scheduler_config.h"

namespace muster::core {

// InvalidArgument says which option, what is wrong with it, and the mend.
absl::StatusOr<JobSpec> Normalise(JobSpec spec, const SchedulerConfig& config);

// InvalidArgument when the job asks for more time between SIGTERM and SIGKILL than the site gives.
absl::Status CheckGrace(const JobSpec& spec, const SchedulerConfig& config);

}  // namespace muster::core
