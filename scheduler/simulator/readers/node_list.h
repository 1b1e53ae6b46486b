#pragma once

// The machine that a GPU trace ran on, as the trace's own table of nodes tells it.
//
// Three tables are known: openb's (sn, cpu_milli, memory_mib, gpu, model), the spot-GPU trace's
// (node_name, cpu_num, gpu_capacity_num, gpu_model), one line a node; and Tiresias' shape
// (num_switch, num_node_p_switch, num_gpu_p_node, num_cpu_p_node, mem_p_node), one line for all.
// Memory goes with the classes of nodes, at most 10,000.

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace muster::sim {

// Nodes that are alike.
struct TraceNodeClass {
  std::int64_t nodes = 0;
  std::int64_t cpus = 0;  // of each; so are these
  std::int64_t gpus = 0;
  std::int64_t memory_mib = 0;  // 0: the table does not say
  std::string model;            // of the GPUs; empty: none, or not said
};

struct TraceNodes {
  std::vector<TraceNodeClass> classes;  // by model, then by size
  std::int64_t nodes = 0;
  std::int64_t cpus = 0;
  std::int64_t gpus = 0;
};

// True when the first line of `path` names the columns of such a table.
absl::StatusOr<bool> IsNodeList(const std::string& path);
// An error, with its line, for anything that is no such table.
absl::StatusOr<TraceNodes> ReadNodeList(const std::string& path);

}  // namespace muster::sim
