#pragma once

// The jobs that Slurm's controller would know: those that wait or run, and those that ended lately.
//
// Thread promise: as Connection's. Invariant: a job is listed once, even when it ends between the
// two questions.

#include <vector>

#include "absl/status/statusor.h"
#include "cli/controller/connection.h"
#include "cli/controller/query/job_choice.h"

namespace muster::cli::slurm {

struct RecentJobs {
  std::vector<JobView> jobs;
  bool knows_all = true;  // every job that the choice names is there, in whatever state
};

struct RecentQuestion {
  bool fold = true;  // one view for elements of an array that wait for the same
  Time now = kNoTime;
};

absl::StatusOr<RecentJobs> ListRecent(Connection& connection, const JobChoice& choice,
                                      const RecentQuestion& question);

}  // namespace muster::cli::slurm
