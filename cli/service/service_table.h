#pragma once

// Services, and the replicas of one, as tables and as JSON documents.
//
// Pure. Invariant: rows stand in the order of names, and of one service in that of its jobs.

#include <string>
#include <vector>

#include "cli/page/style.h"
#include "cli/service/service_replica.h"

namespace muster::cli {

std::string PrintServices(const std::vector<ServiceReplica>& replicas, const Style& style);
std::string PrintReplicas(const std::vector<ServiceReplica>& replicas, const Style& style);
// {"services": [{"name", "replicas", "ready", "asked", "scaled", …, "jobs": [{"job", …}]}]}
std::string ServicesDocument(const std::vector<ServiceReplica>& replicas);

}  // namespace muster::cli
