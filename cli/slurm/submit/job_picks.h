#pragma once

// The jobs that scancel means: its selectors, as the filter that all readers of jobs use.
//
// Invariant: states are canonical names of those that can be ended.

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cli/controller/query/job_choice.h"
#include "cli/slurm/frame/words.h"

namespace muster::cli::slurm {

// Of scancel's options; `self` is what --me means. InvalidArgument is Slurm's line.
absl::StatusOr<JobChoice> ReadPicks(const Words& words, const std::string& self);

// Whether any selector was given.
bool Selects(const JobChoice& picks);

}  // namespace muster::cli::slurm
