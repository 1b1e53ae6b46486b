#pragma once

// What `muster simulate` was asked for, read and checked before anything runs.
//
// InvalidArgument names the option and the mend.

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cli/frame/verb.h"
#include "scheduler/simulator/cluster/cluster_simulation.h"
#include "scheduler/simulator/flat/flat_simulation.h"

namespace muster::cli {

struct SimulateOptions {
  sim::FlatRun run;
  std::optional<sim::ClusterRun> cluster;  // then of `run` only what concerns the trace counts
  std::string trace;                       // as it was named, and so the next
  std::string policy;
  std::string jobs_csv;
  std::string summary_json;
  std::string check;
  std::string html;
  std::string perfetto;
  std::string swf;
  std::string checkpoint;  // a new log of decisions
  std::string resume;      // or one to go on with
  bool audit = false;
  bool json = false;
};

// Refuses what no policy can be.
absl::Status CheckCombination(const sim::FlatPolicy& policy);

std::vector<Option> SimulateOptionTable();
absl::StatusOr<SimulateOptions> ReadSimulateOptions(const Invocation& invocation);

}  // namespace muster::cli
