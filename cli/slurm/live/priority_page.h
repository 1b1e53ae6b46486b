#pragma once

// What sprio prints: the terms of waiting jobs' priorities.
//
// Pure. Invariants: a line for each partition that a job names; a term that the cluster does not
// weigh is 0.

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "cli/slurm/format/percent_format.h"
#include "scheduler/model/policy/priority.h"
#include "scheduler/model/view/view.h"

namespace muster::cli::slurm {

// Formats of the page as it is by itself, of --long and of --norm.
inline constexpr const char* kPriorityFormat =
    "%.15i %9r %.10Y %.10S %.10A %.10F %.10J %.10P %.10Q";
inline constexpr const char* kLongPriorityFormat =
    "%.15i %9r %.8u %.10Y %.10S %.10A %.10B %.10F %.10J %.10P %.10Q %.11N %.20T";
inline constexpr const char* kNormPriorityFormat = "%.15i %9r %10y %10a %10f %10j %10p %10q";

struct RankedJob {
  JobView job;
  Priority priority;
};

struct SprioRequest {
  PercentFormat format;
  std::vector<std::string> sort;  // "-y", "i"; empty: by job
  bool header = true;
  bool weights = false;  // the weights, and no jobs
  std::string cluster;
};

// InvalidArgument names the letter that is none.
absl::StatusOr<PercentFormat> ReadPriorityFormat(std::string_view text);

std::string PriorityPage(const SprioRequest& request, std::vector<RankedJob> jobs);

}  // namespace muster::cli::slurm
