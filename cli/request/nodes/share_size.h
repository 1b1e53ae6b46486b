#pragma once

// A share of a GPU that was asked for by memory, as the part of one that the controller plans with.
//
// Invariant: a GPU that the request then takes has, in that part of its memory, no less than was
// asked for.

#include <vector>

#include "absl/status/status.h"
#include "cli/controller/connection.h"
#include "cli/request/job_request.h"
#include "scheduler/model/machine/machine.h"
#include "scheduler/model/view/view.h"

namespace muster::cli {

// Sets the share of the request, and how much memory its GPUs have at the least, from the GPUs of
// `machines`. FailedPrecondition: none of the type has so much memory. A request without such a
// share stays as it is.
absl::Status FillGpuShare(const std::vector<const Machine*>& machines, JobRequest* request);

// The machines of the nodes. REQUIRES: the list outlives them.
std::vector<const Machine*> MachinesOf(const NodeList& nodes);

// The same, from the nodes of the cluster, which are asked only for a request with such a share.
absl::Status FillGpuShare(Connection& connection, JobRequest* request);

}  // namespace muster::cli
