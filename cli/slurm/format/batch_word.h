#pragma once

// Whether a job has a script.
//
// Pure.

#include "scheduler/model/view/view.h"

namespace muster::cli::slurm {

// A job that was made for its one step has none. REQUIRES: the job has started.
bool HasScript(const JobDetail& detail);

}  // namespace muster::cli::slurm
