#include "scheduler/core/plan/search/planned_nodes.h"

#include <algorithm>

namespace muster::core {

std::optional<std::uint32_t> PositionOf(const Snapshot& snapshot, NodeId node) {
  const auto found = std::lower_bound(
      snapshot.nodes.begin(), snapshot.nodes.end(), node,
      [](const NodeSnapshot& node_snapshot, NodeId id) { return node_snapshot.id < id; });
  return found == snapshot.nodes.end() || found->id != node
             ? std::nullopt
             : std::optional(static_cast<std::uint32_t>(found - snapshot.nodes.begin()));
}

}  // namespace muster::core
