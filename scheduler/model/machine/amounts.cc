#include "scheduler/model/machine/amounts.h"

namespace muster {

Amounts& Amounts::operator+=(const Amounts& more) {
  cpus += more.cpus;
  memory += more.memory;
  gpus += more.gpus;
  gpu_share += more.gpu_share;
  return *this;
}

Amounts AmountsOf(const NodeAllocation& part) {
  Amounts amounts{part.cpus.Count(), part.memory, part.gpus.size(), 0};
  for (const GpuGrant& grant : part.gpus) {
    amounts.gpu_share += grant.share.value();
  }
  return amounts;
}

Amounts AmountsOf(const Allocation& allocation) {
  Amounts amounts;
  for (const NodeAllocation& part : allocation.nodes) {
    amounts += AmountsOf(part);
  }
  return amounts;
}

}  // namespace muster
