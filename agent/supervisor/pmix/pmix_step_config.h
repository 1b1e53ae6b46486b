#pragma once

// Describes a step to PMIx.
//
// Invariant: ranks are the indices of `node_of_rank`.

#include <cstdint>
#include <string>
#include <vector>

namespace muster::agent {

// See PmixStepOptions. `cores_shared`: ranks share cores, and yield while they wait.
// `host_memory_only`: Open MPI is to talk through host memory only. It then looks for no network
// hardware, which halves the time of MPI_Init; wrong for ranks that pass GPU buffers to MPI.
// `one_machine`: all nodes are this machine, and ranks of different ones talk over the loopback.
// Ranks are the indices of node_of_rank; `local_cpusets` has one cpu list
// ("0-3", or "" for an unbound rank) per rank of this node.
struct PmixStepConfig {
  std::string nspace;  // used once in the process, for example "muster.42.0"
  std::vector<std::string> nodes;
  uint32_t node_index = 0;  // this node's position in `nodes`
  std::vector<uint32_t> node_of_rank;
  std::vector<std::string> local_cpusets;
  uint32_t universe_size = 0;
  bool cores_shared = false;
  bool host_memory_only = false;
  bool one_machine = false;
  // Where Open MPI puts its shared segments; the step's own, and goes with it. "": where it likes.
  std::string segments;
};

}  // namespace muster::agent
