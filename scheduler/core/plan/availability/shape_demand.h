#pragma once

// What jobs of one shape take of a node, worked out once for each class of equal nodes.
//
// Invariants: after Extend there is a scale for each class of the inventory.

#include <cstdint>
#include <vector>

#include "scheduler/core/place/nodes/task_capacity.h"
#include "scheduler/core/plan/availability/aggregate_free.h"
#include "scheduler/core/plan/availability/need.h"

namespace muster::core {

struct ShapeDemand {
  // REQUIRES: the need is of this shape, and the classes are those of the calls before, or more.
  void Extend(const Need& need, const std::vector<NodeCapacity>& classes);

  // What all its tasks take at the least, wherever they are.
  [[nodiscard]] CoresAndGpus Least() const { return {least_cores, least_gpus}; }
  // No node with fewer GPUs takes that many tasks.
  [[nodiscard]] std::uint32_t GpusFor(std::uint32_t tasks) const {
    return scales.empty() ? 0 : scales[0].fixed.gpus + scales[0].each.gpus * tasks;
  }

  std::vector<DemandScale> scales;         // by class
  std::uint32_t least_cores = UINT32_MAX;  // that all tasks take on one node, of any class
  std::uint32_t least_gpus = UINT32_MAX;   // the same
};

}  // namespace muster::core
