#pragma once

// Whether the dependency of a submission, or of a changed job, can ever be met.
//
// Invariant: what is accepted is met by some course of the jobs it names, or its user asked to keep
// it all the same.

#include <vector>

#include "absl/status/status.h"
#include "scheduler/core/state/tables/job_table.h"
#include "scheduler/model/job/dependency.h"
#include "scheduler/model/job/job_spec.h"

namespace muster::core {

// Refuses a dependency that names no job, or one that can never be met (unless the job says
// --kill-on-invalid-dep=no: then it is accepted and shown as never).
absl::Status CheckDependencyNow(const JobTable& jobs, const JobSpec& spec,
                                const std::vector<TargetHistory>& history, Time now);

}  // namespace muster::core
