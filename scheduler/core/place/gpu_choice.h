#pragma once

// Which of a node's free GPUs a job gets, with the cores beside them in mind.
//
// First come the ranks: as many as can have cores, memory and GPUs on one NUMA node. Of the sets
// that allow this, one whose weakest link is best; of those, one that cuts the weakest links to the
// GPUs that stay, so that a pair or an island on NVLink is broken up last. Invariants: the first
// two are exact for machines of up to 16 GPUs; the third looks at no more than kSetsCompared sets;
// ties fall to the lower positions.

#include <cstdint>
#include <vector>

#include "scheduler/core/place/gpu_links.h"

namespace muster::core {

// What is free near one NUMA node.
struct GpuDomain {
  std::vector<std::uint32_t> gpus;  // positions in Machine::gpus, ascending
  std::uint32_t core_tasks = 0;     // tasks that find their cores here; 0 where GPUs are nowhere
};

// What is asked: `gpus` in all. Either each task has `per_task` of its own, or `sharers` tasks
// share each GPU.
struct GpuDemand {
  std::uint32_t tasks = 0;
  std::uint32_t gpus = 0;
  std::uint32_t per_task = 1;
  std::uint32_t sharers = 1;
};

inline constexpr std::uint32_t kSetsCompared = 256;

// Tasks that are local in a domain with that many chosen GPUs.
std::uint32_t LocalTasks(const GpuDemand& demand, std::uint32_t gpus, std::uint32_t core_tasks);

// The chosen GPUs, ascending. REQUIRES: the domains have as many; at most 64 in all are looked at,
// beyond that the first ones of each domain.
std::vector<std::uint32_t> ChooseGpus(const GpuLinkTable& links,
                                      const std::vector<GpuDomain>& domains,
                                      const GpuDemand& demand);

}  // namespace muster::core
