#pragma once

// A network from a file in any format that we know.
//
// Thread promise: reads one file. Invariants: a network is returned whole or not at all.

#include <string>

#include "absl/status/statusor.h"
#include "scheduler/model/machine/network.h"

namespace muster::topology {

// `path` ending in .toml is ours (network_toml.h), in .yaml or .yml Slurm's topology.yaml, else
// Slurm's topology.conf. Errors are one line, "FILE:LINE: …" where a line is to blame.
absl::StatusOr<Network> ReadNetwork(const std::string& path);

}  // namespace muster::topology
