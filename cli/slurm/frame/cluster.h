#pragma once

// The controller that Slurm's commands call: the one that `muster` would call.
//
// Thread promise: the main thread's. Invariant: the command line of Slurm's commands has no word
// for the address, so the environment alone says it.

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cli/controller/connection.h"
#include "cli/slurm/frame/command.h"

namespace muster::cli::slurm {

absl::StatusOr<std::unique_ptr<Connection>> OpenCluster(const Call& call);

// --clusters: this cluster's name and "all" are known, others are FailedPrecondition in Slurm's
// words. Or what kept the controller from answering.
absl::Status CheckClusters(Connection& connection, const std::string& names);

// NotFound, of which SlurmText makes Slurm's words, when there is no node of one of these names.
absl::Status CheckNodes(Connection& connection, const std::vector<std::string>& names);

}  // namespace muster::cli::slurm
