#pragma once

// Which nodes are not on, and how long each took to boot: part of a cluster state.
//
// Thread promise: none; changed only by ClusterState's events. Invariants: (1) a node that was
// never switched off is not in it; (2) `away` are the nodes that jobs can have once they have
// booted; (3) of each node the newest kBootsKept boots are kept.

#include <map>
#include <set>
#include <vector>

#include "scheduler/model/change/event.h"
#include "scheduler/model/machine/power.h"
#include "scheduler/model/value/ids.h"

namespace muster::core {

class PowerTable {
 public:
  void Load(const std::vector<NodePower>& nodes);
  void Take(const NodePowered& event);
  void Forget(NodeId node);

  // Of a node of which nothing is known: it is on.
  [[nodiscard]] const NodePower& Of(NodeId node) const;
  [[nodiscard]] bool IsOn(NodeId node) const { return Of(node).state == PowerState::kOn; }
  [[nodiscard]] const std::map<NodeId, NodePower>& nodes() const { return nodes_; }
  [[nodiscard]] const std::set<NodeId>& away() const { return away_; }

 private:
  void Index(const NodePower& power);

  std::map<NodeId, NodePower> nodes_;
  std::set<NodeId> away_;
};

}  // namespace muster::core
