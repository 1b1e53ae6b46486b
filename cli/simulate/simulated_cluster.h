#pragma once

// The cluster of `muster simulate`: a number of nodes that are alike, or a file that describes
// them.
//
// The file is TOML: [nodes.NAME] count, and cpus, gpus, gpu_model, memory, or topology (a captured
// machine); gres, features, weight, failures; failure_log, job_checkpoints; beside them the tables
// of the controller's configuration, as it would read them. Invariants: what is returned has nodes;
// an error names the option, or FILE:LINE.

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "cli/frame/verb.h"
#include "scheduler/runtime/config_file.h"
#include "scheduler/simulator/cluster/cluster_simulation.h"

namespace muster::cli {

// --nodes, --cpus-per-node, --gpus-per-node, --gpu-model, --mem-per-node, --cluster,
// --failures, --job-checkpoints, --seed.
std::vector<Option> ClusterOptionTable();
// The same without --cluster: nodes that are all alike.
std::vector<Option> AlikeNodesOptionTable();

// Nothing when no option of a cluster is given. The trace and the estimates are the caller's.
absl::StatusOr<std::optional<sim::ClusterRun>> ReadClusterRun(const Invocation& invocation);

// The cluster that a file describes; marks the keys as known and leaves it to the caller to refuse
// others. `directory` is that of the file.
absl::StatusOr<sim::ClusterRun> ReadCluster(ConfigFile& file, const std::string& directory);

// The options of nodes that are alike as such a file would say them.
absl::StatusOr<std::string> AlikeNodesText(const Invocation& invocation);

// The name of a policy into settings: muster, prompt, fairshare, fcfs, or a kind of backfilling.
absl::Status SetClusterPolicy(const std::string& name, SchedulerConfig& config);
// "muster, prompt, …".
std::string ClusterPolicyNames();

}  // namespace muster::cli
