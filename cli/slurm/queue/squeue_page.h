#pragma once

// What squeue prints.
//
// Pure. Invariant: a line for each row.

#include <string>
#include <vector>

#include "cli/slurm/queue/job_row.h"
#include "cli/slurm/queue/squeue_options.h"

namespace muster::cli::slurm {

std::string SqueuePage(const SqueueRequest& request, std::vector<JobRow> rows,
                       const JobScene& scene);

}  // namespace muster::cli::slurm
