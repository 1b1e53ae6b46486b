#pragma once

// The result of a simulation, as a page and as a JSON document.
//
// Neither says how long it took or when it ran: two runs give the same bytes.

#include <optional>
#include <string>
#include <vector>

#include "cli/page/style.h"
#include "cli/simulate/simulate_options.h"
#include "scheduler/simulator/flat/flat_simulation.h"
#include "scheduler/simulator/schedule/schedule_audit.h"
#include "scheduler/simulator/schedule/schedule_check.h"
#include "scheduler/simulator/schedule/schedule_metrics.h"

namespace muster::cli {

// What only a cluster has: free room, and what failures and checkpoints cost where there are any.
std::vector<sim::Metric> ClusterMetrics(const sim::ClusterResult& cluster);

struct SimulateOutcome {
  sim::FlatResult result;
  std::vector<sim::Metric> metrics;
  std::vector<sim::UserMetrics> users;
  std::optional<sim::AuditReport> audit;
  std::optional<sim::CheckReport> check;
  std::optional<sim::ClusterResult> cluster;  // its `schedule` is `result`
};

// REQUIRES: not complete.
std::string PartialSentence(const sim::FlatResult& result);

std::string PrintSimulation(const SimulateOptions& options, const SimulateOutcome& outcome,
                            const Style& style);
std::string SimulationDocument(const SimulateOptions& options, const SimulateOutcome& outcome);

}  // namespace muster::cli
