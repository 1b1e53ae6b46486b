#pragma once

// Adds up what the parts of a job used on several nodes.
//
// Thread promise: pure. Invariant: times, energy and the memory of groups on different nodes are
// sums; the peak of one process or of one GPU stays a maximum.

#include <algorithm>

#include "scheduler/model/job/exit_status.h"

namespace muster::core {

inline void AddUsage(const Usage& part, Usage& total) {
  total.user_cpu += part.user_cpu;
  total.system_cpu += part.system_cpu;
  total.peak_memory = std::max(total.peak_memory, part.peak_memory);
  total.group_memory += part.group_memory;
  total.gpu_busy += part.gpu_busy;
  total.gpu_memory = std::max(total.gpu_memory, part.gpu_memory);
  total.gpu_energy_mj += part.gpu_energy_mj;
  total.cpu_energy_mj += part.cpu_energy_mj;
}

}  // namespace muster::core
