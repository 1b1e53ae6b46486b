#pragma once

// How well any two GPUs of a machine are joined, and which set of them is joined best.
//
// A pair that the machine says nothing of counts by its NUMA nodes: NODE on one, SYS across. Thread
// promise: immutable once made. Invariants: the same machine and question give the same answer;
// ties fall to the lower positions.

#include <cstdint>
#include <optional>
#include <vector>

#include "scheduler/model/machine/machine.h"

namespace muster::core {

class GpuLinkTable {
 public:
  explicit GpuLinkTable(const Machine& machine);

  // LinkQuality of the pair; the best there is for a GPU and itself.
  [[nodiscard]] std::uint64_t Quality(std::uint32_t a, std::uint32_t b) const {
    return qualities_[a * count_ + b];
  }

 private:
  std::size_t count_;
  std::vector<std::uint64_t> qualities_;
};

// Better than every link: the rating of a set without pairs.
inline constexpr std::uint64_t kNoLink = UINT64_MAX;

// The weakest link between two of the GPUs (positions), as the machine has it; nothing for fewer
// than two. A pair that the machine says nothing of is a link of its NUMA kind.
std::optional<DeviceLink> WeakestLink(const Machine& machine,
                                      const std::vector<std::uint32_t>& gpus);

}  // namespace muster::core
