#pragma once

// What nodes are, whatever runs on them: their capacity, whether jobs may use them, and their place
// in the network.
//
// Thread promise: none; owned by one cycle at a time. Invariants: (1) nodes are named by their
// position in the snapshot; (2) nodes of equal capacity are of one class.

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "scheduler/core/place/nodes/node_tree.h"
#include "scheduler/core/place/nodes/task_capacity.h"
#include "scheduler/model/machine/machine.h"
#include "scheduler/model/plan/snapshot.h"
#include "scheduler/model/value/time.h"

namespace muster::core {

class NodeInventory {
 public:
  // REQUIRES: the snapshot outlives it.
  explicit NodeInventory(const Snapshot& snapshot);

  // On to a later snapshot, in which the nodes are the same. REQUIRES: as above.
  void MoveTo(const Snapshot& next) {
    snapshot_ = &next;
    keepers_.clear();
  }

  [[nodiscard]] const Snapshot& snapshot() const { return *snapshot_; }
  [[nodiscard]] Time now() const { return snapshot_->now; }
  [[nodiscard]] std::size_t size() const { return usable_.size(); }

  // True when the node is up and not drained.
  [[nodiscard]] bool usable(std::uint32_t node) const { return usable_[node]; }
  [[nodiscard]] const std::vector<bool>& usable() const { return usable_; }
  [[nodiscard]] const NodeCapacity& capacity(std::uint32_t node) const {
    return classes_[class_of_[node]];
  }
  [[nodiscard]] std::uint32_t class_of(std::uint32_t node) const { return class_of_[node]; }
  [[nodiscard]] const std::vector<NodeCapacity>& classes() const { return classes_; }

  // The nodes that keep what has that mark, in order; none for 0.
  [[nodiscard]] const std::vector<std::uint32_t>& KeepersOf(std::uint64_t mark) const;

  // Null where the network is not known.
  [[nodiscard]] const NodeTree* tree() const { return tree_.has_value() ? &*tree_ : nullptr; }
  // The leaf switch of the node; the same for all where the network is not known.
  [[nodiscard]] std::uint32_t LeafOf(std::uint32_t node) const {
    return tree_.has_value() ? tree_->LeafOf(node) : 0;
  }

 private:
  std::uint32_t ClassWith(NodeCapacity capacity);

  const Snapshot* snapshot_;
  std::vector<bool> usable_;  // by node
  std::vector<NodeCapacity> classes_;
  std::vector<std::uint32_t> class_of_;  // by node
  std::optional<NodeTree> tree_;         // of the snapshot's network
  mutable std::map<std::uint64_t, std::vector<std::uint32_t>> keepers_;  // by mark; as it is asked
};

}  // namespace muster::core
