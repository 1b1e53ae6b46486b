#pragma once

// For one shape of job: the nodes with room for a task now when nothing is taken, and how many
// tasks, kept from one scheduling cycle to the next.
//
// Jobs that a reservation may be in the way of are not kept. Thread promise: none; owned by one
// cycle at a time. Invariants: while known() and not many(), the list is what a look at every node
// would give.

#include <cstddef>
#include <vector>

#include "scheduler/core/plan/availability/node_query.h"

namespace muster::core {

class RoomNow {
 public:
  [[nodiscard]] bool known() const { return known_; }
  // There are too many to keep: none is listed.
  [[nodiscard]] bool many() const { return many_; }
  // By position. REQUIRES: known() and not many().
  [[nodiscard]] const std::vector<NodeShare>& nodes() const { return nodes_; }

  // Looks at the nodes. REQUIRES: no reservation is in the way.
  void Find(const NodeQuery& query);
  // A cycle begins: looks at the nodes that changed since the last one.
  void Renew(const NodeQuery& query);

 private:
  bool known_ = false;
  bool many_ = false;
  std::size_t mark_ = 0;  // in the log of changes
  std::vector<NodeShare> nodes_;
};

}  // namespace muster::core
