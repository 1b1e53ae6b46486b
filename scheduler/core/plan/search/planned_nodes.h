#pragma once

// The nodes of a snapshot, with what the cycle has planned on them so far.
//
// A node is copied when something is first planned on it; all others stay those of the snapshot.
// Thread promise: none; owned by one cycle. Invariants: (1) the snapshot is never changed; (2) what
// Change has returned is what At returns from then on, changes included.

#include <cstdint>
#include <map>
#include <optional>

#include "scheduler/model/plan/snapshot.h"
#include "scheduler/model/value/ids.h"

namespace muster::core {

class PlannedNodes {
 public:
  // REQUIRES: the snapshot outlives it.
  explicit PlannedNodes(const Snapshot& snapshot) : snapshot_(snapshot) {}

  // The node at that position of the snapshot, as it is now.
  [[nodiscard]] const NodeSnapshot& At(std::uint32_t node) const {
    const auto changed = changed_.find(node);
    return changed == changed_.end() ? snapshot_.nodes[node] : changed->second;
  }
  // The same, to plan something on it. The reference stays good.
  NodeSnapshot& Change(std::uint32_t node) {
    return changed_.try_emplace(node, snapshot_.nodes[node]).first->second;
  }

 private:
  const Snapshot& snapshot_;
  std::map<std::uint32_t, NodeSnapshot> changed_;  // by position
};

// The node's position in the snapshot; nothing when it is not in there.
std::optional<std::uint32_t> PositionOf(const Snapshot& snapshot, NodeId node);

}  // namespace muster::core
