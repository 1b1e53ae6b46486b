#pragma once

// Where the tasks of a step are, as `sattach --layout` says it.
//
// Pure. Invariant: of a step that does not run there is none.

#include <string>

#include "absl/status/statusor.h"
#include "scheduler/model/view/view.h"

namespace muster::cli::slurm {

// NotFound where the job has no such running step; FailedPrecondition "waits"
// where the job or the step has not begun.
absl::StatusOr<std::string> StepLayout(const JobDetail& detail, StepId step);

}  // namespace muster::cli::slurm
