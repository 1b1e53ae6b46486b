#pragma once

// Finds the replicas that are out of reach: their node says nothing to the controller, and their
// program takes no connection.
//
// Neither alone is enough. A node is silent, too, while its agent or the controller restarts, and
// its programs go on serving; a program that is busy is its own keeper's to judge. Thread promise:
// a call blocks its own thread, for `patience` at most beside the controller's answer. Invariant:
// replicas on nodes that the controller hears are not asked.

#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "cli/controller/connection.h"
#include "cli/service/service_replica.h"
#include "scheduler/model/value/time.h"

namespace muster::cli {

// Marks those that are lost.
absl::Status MarkLostReplicas(Connection& connection, std::vector<ServiceReplica>* replicas);

// Those on nodes of these names that do not answer.
void MarkThoseSilent(const std::set<std::string>& nodes, Duration patience,
                     std::vector<ServiceReplica>* replicas);

}  // namespace muster::cli
