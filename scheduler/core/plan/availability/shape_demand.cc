#include "scheduler/core/plan/availability/shape_demand.h"

#include <algorithm>

namespace muster::core {

void ShapeDemand::Extend(const Need& need, const std::vector<NodeCapacity>& classes) {
  while (scales.size() < classes.size()) {
    const NodeCapacity& capacity = classes[scales.size()];
    scales.push_back(ScaleOf(capacity, *need.request, need.whole_gpus));
    scales.back().fixed.user = need.user;
    const NodeDemand all = DemandOf(capacity, scales.back(), need.request->tasks);
    least_cores = std::min(least_cores, all.cores);
    least_gpus = std::min(least_gpus, all.gpus);
  }
}

}  // namespace muster::core
