#pragma once

// Of the nodes on which the cycle has planned something: their timelines as they were before.
//
// Thread promise: none; owned by one cycle at a time. Invariants: the first timeline that is kept
// of a node stays until all are taken back.

#include <cstdint>
#include <utility>
#include <vector>

#include "scheduler/core/place/nodes/node_timeline.h"

namespace muster::core {

class UntakenTimelines {
 public:
  using Entry = std::pair<std::uint32_t, NodeTimeline>;

  explicit UntakenTimelines(std::size_t nodes) : place_of_(nodes, 0) {}

  [[nodiscard]] bool Has(std::uint32_t node) const { return place_of_[node] != 0; }
  // Null when nothing was planned on the node.
  [[nodiscard]] const NodeTimeline* Find(std::uint32_t node) const {
    return Has(node) ? &entries_[place_of_[node] - 1].second : nullptr;
  }
  // In the order in which they were kept.
  [[nodiscard]] const std::vector<Entry>& entries() const { return entries_; }

  void Keep(std::uint32_t node, const NodeTimeline& timeline) {
    if (!Has(node)) {
      entries_.emplace_back(node, timeline);
      place_of_[node] = static_cast<std::uint32_t>(entries_.size());
    }
  }
  // Calls visit(node, timeline) for all of them; none is kept then.
  template <class Visitor>
  void TakeAll(const Visitor& visit) {
    for (Entry& entry : entries_) {
      place_of_[entry.first] = 0;
      visit(entry.first, std::move(entry.second));
    }
    entries_.clear();
  }

 private:
  std::vector<std::uint32_t> place_of_;  // by node: in `entries_`, counted from 1; or 0
  std::vector<Entry> entries_;
};

}  // namespace muster::core
