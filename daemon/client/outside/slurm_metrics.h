#pragma once

// The numbers that the metrics of Slurm 25.11 tell, by their names, where we have the same
// number.
//
// Pure. Source of the names: the metrics page of Slurm's documentation. Invariants: every name
// and label is legal in OpenMetrics 1.0; no label is a job.

#include <string>
#include <string_view>

#include "daemon/client/outside/metered_cluster.h"
#include "daemon/client/outside/metric_page.h"
#include "daemon/controller/meters.h"

namespace muster::daemon {

// What is told beside our own names: all of them but those of each node and partition.
void AddSlurmNames(const MeteredCluster& cluster, const Meters& meters, MetricPage& page);

// The pages into which Slurm divides them.
bool HasSlurmPage(std::string_view name);
std::string SlurmPageNames();  // for people, by commas
// REQUIRES: there is that page.
wire::ReadMetricsReply SlurmPage(std::string_view name, const MeteredCluster& cluster,
                                 const Meters& meters);

}  // namespace muster::daemon
