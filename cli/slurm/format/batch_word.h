#pragma once

// Whether a job has a script.
//
// Pure. Thread promise: safe from any thread.

#include "scheduler/model/view/view.h"

namespace muster::slurm {

// A job that was made for its one step has none. REQUIRES: the job has started.
bool HasScript(const JobDetail& detail);

}  // namespace muster::slurm
