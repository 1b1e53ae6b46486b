#pragma once

// How many jobs one user may have waiting and running at once.
//
// Pure. Invariant: it takes no longer where many jobs are.

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "scheduler/core/state/tables/job_table.h"
#include "scheduler/model/settings/scheduler_config.h"

namespace muster::core {

// ResourceExhausted when `count` further jobs of the user would be more than
// SchedulerConfig::submit_jobs_max together with those that wait or run.
absl::Status CheckUserJobs(const JobTable& jobs, const std::string& user, std::uint64_t count,
                           const SchedulerConfig& config);

}  // namespace muster::core
