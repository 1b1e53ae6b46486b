#pragma once

// How the nodes of a simulated cluster fail, and how its jobs write checkpoints.
//
// As options: --failures mtbf=30d,shape=0.7,repair=4h or --failures log=FILE; --job-checkpoints
// interval=auto,cost=60s,restart=2m, or size=64G with --file-system bandwidth=100G; --seed N. The
// cluster's file says the same with the keys [nodes.NAME] failures, failure_log, job_checkpoints,
// file_system and failure_seed; an option outdoes it. An error names the option, or FILE:LINE.

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cli/frame/verb.h"
#include "scheduler/runtime/config_file.h"
#include "scheduler/simulator/cluster/cluster_simulation.h"

namespace muster::cli {

std::vector<Option> FailureOptionTable();

// "mtbf=30d,shape=0.7,repair=4h"; repair-mean instead of repair: exponential, of that mean.
absl::StatusOr<sim::FailureLaw> ParseFailureLaw(const std::string& text);

// The file's keys: those of one class of nodes, and those of the cluster; a log is beside the file,
// in `directory`, unless it says where.
absl::Status ReadFailureKeys(ConfigFile& file, const std::string& table, sim::NodeClass* nodes);
absl::Status ReadFailureKeys(ConfigFile& file, const std::string& directory, sim::ClusterRun* run);
// Whether the options about failures, checkpoints and the file system go together.
absl::Status CheckFailureSettings(const sim::ClusterRun& run);

// The options, over those of the file; then whether all of it goes together.
absl::Status ReadFailureOptions(const Invocation& invocation, sim::ClusterRun* run);

// Refuses the options where there is no cluster.
absl::Status RefuseFailureOptions(const Invocation& invocation);

}  // namespace muster::cli
