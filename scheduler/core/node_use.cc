// What is taken of a node: the only arithmetic on it.
#include <algorithm>

#include "scheduler/base/status.h"
#include "scheduler/core/cluster_state.h"

namespace muster {

void AddUse(NodeUse& use, const Machine& machine, const NodeAllocation& allocation) {
  MUSTER_CHECK(!use.cpus.Meets(allocation.cpus));
  use.cpus |= allocation.cpus;
  use.memory += allocation.memory;
  use.gpus.resize(std::max(use.gpus.size(), machine.gpus.size()));
  for (const GpuGrant& grant : allocation.gpus) {
    MUSTER_CHECK(grant.gpu < use.gpus.size());
    use.gpus[grant.gpu] += grant.share;
    MUSTER_CHECK(use.gpus[grant.gpu] <= kWholeGpu);
  }
}

void SubtractUse(NodeUse& use, const NodeAllocation& allocation) {
  MUSTER_CHECK(use.cpus.Includes(allocation.cpus));
  use.cpus -= allocation.cpus;
  use.memory -= allocation.memory;
  for (const GpuGrant& grant : allocation.gpus) {
    MUSTER_CHECK(grant.gpu < use.gpus.size());
    use.gpus[grant.gpu] -= grant.share;
  }
}

}  // namespace muster
