#include "topology/network/network_file.h"

#include "absl/strings/match.h"
#include "scheduler/base/status.h"
#include "scheduler/runtime/file.h"
#include "topology/network/network_toml.h"
#include "topology/network/slurm_topology.h"

namespace muster::topology {

absl::StatusOr<Network> ReadNetwork(const std::string& path) {
  ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  if (absl::EndsWithIgnoreCase(path, ".toml")) {
    return ParseNetworkToml(text, path);
  }
  if (absl::EndsWithIgnoreCase(path, ".yaml") || absl::EndsWithIgnoreCase(path, ".yml")) {
    return ParseSlurmTopologyYaml(text, path);
  }
  return ParseSlurmTopology(text, path);
}

}  // namespace muster::topology
