#include "scheduler/core/power/power_table.h"

namespace muster::core {

void PowerTable::Load(const std::vector<NodePower>& nodes) {
  for (const NodePower& power : nodes) {
    nodes_.insert_or_assign(power.node, power);
    Index(power);
  }
}

void PowerTable::Take(const NodePowered& event) {
  NodePower& power = nodes_[event.node];
  power.node = event.node;
  power.state = event.state;
  power.since = event.time;
  power.until = event.until;
  power.boot = event.boot;
  if (event.took > Duration(0)) {
    if (power.boots.size() >= kBootsKept) {
      power.boots.erase(power.boots.begin());
    }
    power.boots.push_back(event.took);
  }
  Index(power);
}

void PowerTable::Forget(NodeId node) {
  nodes_.erase(node);
  away_.erase(node);
}

const NodePower& PowerTable::Of(NodeId node) const {
  static const NodePower fresh;
  const auto found = nodes_.find(node);
  return found == nodes_.end() ? fresh : found->second;
}

void PowerTable::Index(const NodePower& power) {
  if (power.state == PowerState::kOn || power.state == PowerState::kFailed) {
    away_.erase(power.node);
  } else {
    away_.insert(power.node);
  }
}

}  // namespace muster::core
