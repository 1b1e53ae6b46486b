#pragma once

// Jobs as slurmrestd shows them: of the queue (slurm) and of the accounting (slurmdb).
//
// Pure.

#include "daemon/gateway/slurm/slurm_values.h"
#include "proto/view.pb.h"

namespace muster::daemon::slurm {

// One entry of "jobs"; `detail` null: from a list.
Json QueuedJob(const wire::JobView& job, const wire::JobDetail* detail);
Json AccountedJob(const wire::JobView& job, const wire::JobDetail* detail);

}  // namespace muster::daemon::slurm
