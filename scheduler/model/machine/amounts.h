#pragma once

// What parts of an allocation add up to: hardware threads, memory and GPUs.
//
// Rows that people and programs read (a job's view, a running job of a snapshot) name the amounts
// one by one, as their JSON does; SetAmounts fills them in.

#include <cstdint>

#include "scheduler/model/machine/allocation.h"
#include "scheduler/model/value/units.h"

namespace muster {

struct Amounts {
  std::uint64_t cpus = 0;
  Bytes memory = Bytes();
  std::uint64_t gpus = 0;       // of which some part is held
  std::uint64_t gpu_share = 0;  // thousandths of GPUs
  Amounts& operator+=(const Amounts& more);
  friend bool operator==(const Amounts&, const Amounts&) = default;
};

Amounts AmountsOf(const NodeAllocation& part);
Amounts AmountsOf(const Allocation& allocation);

template <class Row>
void SetAmounts(const Amounts& amounts, Row& row) {
  row.cpus = static_cast<decltype(row.cpus)>(amounts.cpus);
  row.memory = amounts.memory;
  row.gpus = static_cast<decltype(row.gpus)>(amounts.gpus);
}

}  // namespace muster
