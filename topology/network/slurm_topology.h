#pragma once

// Slurm's files for networks: topology.conf (tree and block plugins) and topology.yaml.
//
// Invariants: a network is returned whole or not at all; errors are InvalidArgument "NAME:LINE: …".
// A node below two switches is refused, though Slurm only warns: a placement could not say which
// way it goes.

#include <string>

#include "absl/status/statusor.h"
#include "scheduler/model/machine/network.h"

namespace muster::topology {

// topology.conf(5): SwitchName, Switches, Nodes, LinkSpeed (which Slurm does not use either), or
// BlockName, Nodes, BlockSizes. Keys in any case; # begins a comment, a backslash at its end
// continues a line.
absl::StatusOr<Network> ParseSlurmTopology(const std::string& text, const std::string& name);

// topology.yaml(5): a list of topologies, of which that with cluster_default is read, else the
// first; the others are named in a remark. `flat: true` is refused: it says nothing.
absl::StatusOr<Network> ParseSlurmTopologyYaml(const std::string& text, const std::string& name);

}  // namespace muster::topology
