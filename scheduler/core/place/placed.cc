#include "scheduler/core/place/placed.h"

#include <algorithm>
#include <utility>

namespace muster::core {

bool AddPlaced(Placed placed, std::uint32_t tasks, Allocation& allocation) {
  if (placed.tasks < tasks) {
    return false;
  }
  std::uint32_t before = 0;
  if (!allocation.nodes.empty()) {
    for (const RankPlacement& rank : allocation.nodes.back().ranks) {
      before = std::max(before, rank.rank + 1);
    }
  }
  for (RankPlacement& rank : placed.allocation.ranks) {
    rank.rank += before;
  }
  allocation.nodes.push_back(std::move(placed.allocation));
  return true;
}

}  // namespace muster::core
