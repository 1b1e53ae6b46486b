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

namespace muster::cli {

// Sets the share of the request, and how much memory its GPUs have at the least, from the GPUs of
// `machines`. FailedPrecondition: none of the type has so much memory. A request without such a
// share stays as it is.
absl::Status FillGpuShare(const std::vector<const Machine*>& machines, JobRequest* request);

// The same of each, from the nodes of the cluster, which are asked once, and only where a request
// has such a share.
absl::Status FillGpuShares(Connection& connection, const std::vector<JobRequest*>& requests);
absl::Status FillGpuShare(Connection& connection, JobRequest* request);

}  // namespace muster::cli
