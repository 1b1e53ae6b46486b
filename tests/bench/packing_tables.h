#pragma once

// The nodes and pods of Alibaba's openb trace (cluster-trace-gpu-v2023) for the packing experiment:
// the columns sn, cpu_milli, memory_mib, gpu, model, and cpu_milli, memory_mib, num_gpu, gpu_milli,
// gpu_spec ("A|B": either will do; empty: any). Times and phases are not looked at.
//
// Thread promise: reads files; any thread. Invariants: a cluster is read whole or not at all; nodes
// without GPUs are left out.

#include <string>

#include "absl/status/statusor.h"
#include "tests/bench/packing_experiment.h"

namespace muster::bench {

// InvalidArgument "FILE:LINE: …" for what is no such table.
absl::StatusOr<PackingCluster> ReadPackingCluster(const std::string& nodes,
                                                  const std::string& pods);

}  // namespace muster::bench
