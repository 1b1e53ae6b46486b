#pragma once

// The replicas of services, as jobs of the controller.
//
// Thread promise: as Connection's. Invariant: only the caller's own live jobs are found, oldest
// first.

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cli/controller/connection.h"
#include "cli/service/service_replica.h"

namespace muster::cli {

// NotFound, in a line.
absl::Status NoSuchService(const std::string& service);

// Those of one service; of all when that is "".
absl::StatusOr<std::vector<ServiceReplica>> FindReplicas(Connection& connection,
                                                         const std::string& service);
// The same; NotFound when there is none.
absl::StatusOr<std::vector<ServiceReplica>> ReplicasOf(Connection& connection,
                                                       const std::string& service);

}  // namespace muster::cli
