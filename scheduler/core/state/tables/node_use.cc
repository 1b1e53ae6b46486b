#include "scheduler/core/state/tables/node_use.h"

#include <algorithm>

#include "scheduler/base/status.h"

namespace muster::core {
namespace {

// A machine may come back with fewer GPUs than an allocation names: what is held stays counted.
void MakeRoom(NodeUse& use, const Machine& machine, const NodeAllocation& allocation) {
  std::size_t gpus = std::max(use.gpus.size(), machine.gpus.size());
  for (const GpuGrant& grant : allocation.gpus) {
    gpus = std::max<std::size_t>(gpus, std::size_t{grant.gpu} + 1);
  }
  use.gpus.resize(gpus);
}

}  // namespace

void AddUse(NodeUse& use, const Machine& machine, const NodeAllocation& allocation) {
  MUSTER_CHECK(!use.cpus.Meets(allocation.cpus));
  use.cpus |= allocation.cpus;
  use.memory += allocation.memory;
  AddTo(use.gres, allocation.gres);
  MakeRoom(use, machine, allocation);
  for (const GpuGrant& grant : allocation.gpus) {
    use.gpus[grant.gpu] += grant.share;
    MUSTER_CHECK(use.gpus[grant.gpu] <= kWholeGpu);
  }
}

void CoverUse(NodeUse& use, const Machine& machine, const NodeAllocation& allocation) {
  use.cpus |= allocation.cpus;
  use.memory += allocation.memory;
  AddTo(use.gres, allocation.gres);
  MakeRoom(use, machine, allocation);
  for (const GpuGrant& grant : allocation.gpus) {
    GpuShare& share = use.gpus[grant.gpu];
    share = grant.share < kWholeGpu - share ? share + grant.share : kWholeGpu;
  }
}

void SubtractUse(NodeUse& use, const NodeAllocation& allocation) {
  MUSTER_CHECK(use.cpus.Includes(allocation.cpus));
  use.cpus -= allocation.cpus;
  use.memory -= allocation.memory;
  TakeFrom(use.gres, allocation.gres);
  for (const GpuGrant& grant : allocation.gpus) {
    MUSTER_CHECK(grant.gpu < use.gpus.size());
    use.gpus[grant.gpu] -= grant.share;
  }
}

}  // namespace muster::core
