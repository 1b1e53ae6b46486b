#pragma once

// From what is in the cluster, and what the controller counted, to families of metrics.
//
// Pure. Invariants: every name and label is legal in OpenMetrics 1.0; no label is a job.

#include <map>
#include <string>

#include "daemon/client/outside/metered_cluster.h"
#include "daemon/controller/meters.h"
#include "proto/metrics.pb.h"

namespace muster::daemon {

// `calls`: of each method, how long its calls took.
wire::ReadMetricsReply MetricsOf(const MeteredCluster& cluster, const Meters& meters,
                                 const std::map<std::string, Timings>& calls,
                                 const std::string& name, const std::string& version);

}  // namespace muster::daemon
