#pragma once

// The order of squeue's lines: `--sort`, else by partition, state and priority.
//
// Pure. Invariant: lines that no key tells apart keep their order.

#include <string>
#include <vector>

#include "cli/slurm/queue/job_row.h"

namespace muster::cli::slurm {

// `keys`: "P", "-i", with a letter of job_fields.h each; unknown ones are passed over.
void Sort(const std::vector<std::string>& keys, const JobScene& scene, std::vector<JobRow>& rows);

}  // namespace muster::cli::slurm
