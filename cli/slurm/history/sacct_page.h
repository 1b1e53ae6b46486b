#pragma once

// What sacct prints.
//
// Pure. Invariant: a job, then its script and its steps, in the order of the jobs.

#include <map>
#include <string>
#include <vector>

#include "cli/slurm/history/sacct_options.h"

namespace muster::cli::slurm {

// What the controller told.
struct AccountRecord {
  std::vector<JobView> jobs;
  std::map<JobId, JobDetail> details;
  AccountScene scene;
};

std::string SacctPage(const SacctRequest& request, const AccountRecord& record);

}  // namespace muster::cli::slurm
