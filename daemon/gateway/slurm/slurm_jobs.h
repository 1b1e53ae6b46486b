#pragma once

// Jobs as slurmrestd shows them: of the queue (slurm) and of the accounting (slurmdb).
//
// Pure.

#include <string>

#include "daemon/gateway/slurm/slurm_values.h"
#include "proto/view.pb.h"

namespace muster::daemon::slurm {

// One entry of "jobs"; `detail` null: from a list.
Json QueuedJob(const wire::JobView& job, const wire::JobDetail* detail);
Json AccountedJob(const wire::JobView& job, const wire::JobDetail* detail);
// Those of a list as text, which what is the same of all jobs is not made for each of.
void AppendQueuedJob(const wire::JobView& job, std::string* list);
void AppendAccountedJob(const wire::JobView& job, std::string* list);

}  // namespace muster::daemon::slurm
