#pragma once

// The cluster of `muster whatif` under one change after the other: any key of its file by its path.
//
// "policy.backfill=easy", "nodes.gpu.count+=16"; and short for them, as on identical processors,
// nodes, cpus_per_node and gpus_per_node (of the only class), policy (a name of muster simulate
// --policy) and estimates. Thread promise: a value; Under() is const. Invariants: what is changed
// is read as if it stood in the file; a change that cannot be is one line that says what could.

#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "cli/frame/verb.h"
#include "scheduler/simulator/cluster/cluster_simulation.h"

namespace muster::cli {

class WhatifCluster {
 public:
  // A file as `muster simulate --cluster` reads it.
  static absl::StatusOr<WhatifCluster> Load(const std::string& path);
  // Nodes that are alike. REQUIRES: one of their options is given.
  static absl::StatusOr<WhatifCluster> OfOptions(const Invocation& invocation);

  // The cluster after "KEY=VALUE,KEY+=N"; as it is for "". The trace is the caller's.
  [[nodiscard]] absl::StatusOr<sim::ClusterRun> Under(const std::string& change) const;

 private:
  WhatifCluster(std::string name, std::string directory, std::string text)
      : name_(std::move(name)), directory_(std::move(directory)), text_(std::move(text)) {}

  std::string name_;  // of the file, for errors
  std::string directory_;
  std::string text_;
};

// Whether a file describes a cluster: it has a table of nodes, or of a policy.
absl::StatusOr<bool> DescribesCluster(const std::string& path);

}  // namespace muster::cli
