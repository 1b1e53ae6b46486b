#pragma once

// squeue --steps: a line for each step that runs, the script of a batch job among them.
//
// Invariant: a name in a line is printable.

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cli/slurm/format/percent_format.h"
#include "cli/slurm/queue/job_row.h"
#include "scheduler/model/view/view.h"

namespace muster::cli::slurm {

// "": squeue's usual one. InvalidArgument names a letter that no step has.
absl::StatusOr<PercentFormat> ReadStepFormat(const std::string& text);

std::string StepTitles(const PercentFormat& format);

// The job's lines: of the steps that run, those that `wanted` names ("7.1", "7_3.batch"), or all.
std::string StepLines(const PercentFormat& format, const JobDetail& detail,
                      const std::vector<std::string>& wanted, const JobScene& scene);

}  // namespace muster::cli::slurm
