#include "scheduler/core/plan/availability/node_inventory.h"

#include <algorithm>
#include <map>
#include <utility>

namespace muster::core {

NodeInventory::NodeInventory(const Snapshot& snapshot) : snapshot_(&snapshot) {
  if (snapshot.network != nullptr) {
    tree_.emplace(*snapshot.network, snapshot.nodes, snapshot.narrow_links);
  }
  usable_.reserve(snapshot.nodes.size());
  class_of_.reserve(snapshot.nodes.size());
  std::map<const Machine*, std::uint32_t> known;
  for (const NodeSnapshot& node : snapshot.nodes) {
    usable_.push_back(node.up && !node.drained);
    if (!node.gpu_occupants.empty()) {
      class_of_.push_back(ClassWith(CapacityOf(*node.machine, node.gpu_occupants)));
      continue;
    }
    const auto [found, is_new] = known.emplace(node.machine.get(), 0);
    if (is_new) {
      found->second = ClassWith(CapacityOf(*node.machine));
    }
    class_of_.push_back(found->second);
  }
}

const std::vector<std::uint32_t>& NodeInventory::KeepersOf(std::uint64_t mark) const {
  const auto [known, is_new] = keepers_.try_emplace(mark);
  for (std::uint32_t node = 0; is_new && mark != 0 && node < size(); ++node) {
    const std::vector<std::uint64_t>& kept = snapshot_->nodes[node].kept;
    if (std::find(kept.begin(), kept.end(), mark) != kept.end()) {
      known->second.push_back(node);
    }
  }
  return known->second;
}

std::uint32_t NodeInventory::ClassWith(NodeCapacity capacity) {
  const auto found = std::find(classes_.begin(), classes_.end(), capacity);
  if (found != classes_.end()) {
    return static_cast<std::uint32_t>(found - classes_.begin());
  }
  classes_.push_back(std::move(capacity));
  return static_cast<std::uint32_t>(classes_.size()) - 1;
}

}  // namespace muster::core
