#pragma once

// When the first job on each node reaches its limit, so that a later snapshot looks at the nodes
// alone on which one has.
//
// Thread promise: none; owned by one cycle at a time. Invariants: a node without a limited job is
// never due.

#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "scheduler/core/place/nodes/node_timeline.h"
#include "scheduler/model/value/time.h"

namespace muster::core {

class FirstEnds {
 public:
  explicit FirstEnds(std::size_t nodes) : ends_(nodes, kFarFuture) {}

  // kFarFuture for never.
  [[nodiscard]] Time Of(std::uint32_t node) const { return ends_[node]; }
  void Set(std::uint32_t node, Time end) {
    by_time_.erase({ends_[node], node});
    ends_[node] = end;
    if (end < kFarFuture) {
      by_time_.emplace(end, node);
    }
  }
  // Adds the nodes on which a job reaches its limit by `now`.
  void AddDue(Time now, std::set<std::uint32_t>& nodes) const {
    for (auto end = by_time_.begin(); end != by_time_.end() && end->first <= now; ++end) {
      nodes.insert(end->second);
    }
  }

 private:
  std::vector<Time> ends_;                            // by node
  std::set<std::pair<Time, std::uint32_t>> by_time_;  // those that are not never
};

}  // namespace muster::core
