#pragma once

// Objects of v0.0.40 with all of their fields, each with what stands where nothing is known.
//
// Clients read fields by name and fail at one that is missing. Pure. Invariant: a field has the
// type that its version gives it.

#include "daemon/gateway/slurm/slurm_values.h"

namespace muster::daemon::slurm {

// What a job of the queue has besides what QueuedJob says of it.
const Json& BlankJob();
const Json& BlankAccountedJob();
const Json& BlankNode();
const Json& BlankPartition();
const Json& BlankReservation();
const Json& BlankStatistics();

}  // namespace muster::daemon::slurm
