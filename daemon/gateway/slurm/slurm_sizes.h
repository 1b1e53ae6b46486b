#pragma once

// The fields of a submission that say what a job takes, and how its ranks lie on that.
//
// Pure. Invariant: a refused field leaves an error that names it.

#include "daemon/gateway/slurm/slurm_fields.h"

namespace muster::daemon::slurm {

void AddSizes(FieldTable& table);

}  // namespace muster::daemon::slurm
