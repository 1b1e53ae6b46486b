#pragma once

// The policy as a cycle sees it: its rules, which nodes belong to what, and what is in use.
//
// Part of a snapshot; also what the state keeps. Thread promise: immutable once in a snapshot.
// Invariants: `policy` and `nodes` are never null; `nodes` was made from the policy and the
// registered nodes' names.

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "scheduler/model/policy/policy.h"
#include "scheduler/model/policy/policy_usage.h"
#include "scheduler/model/value/ids.h"

namespace muster {

// The nodes of a partition or a reservation, by id.
struct NodeGroup {
  bool all = false;
  std::vector<bool> members;  // by NodeId's value
  std::uint32_t named = 0;    // names in the list, registered or not
  static constexpr auto Fields(auto list) {
    return list(Field{"all", &NodeGroup::all}, Field{"members", &NodeGroup::members},
                Field{"named", &NodeGroup::named});
  }
  [[nodiscard]] bool Has(NodeId node) const {
    return all || (node.value() < members.size() && members[node.value()]);
  }
};

struct PolicyNodes {
  std::map<std::string, NodeGroup> partitions;
  std::map<std::string, NodeGroup> reservations;
  static constexpr auto Fields(auto list) {
    return list(Field{"partitions", &PolicyNodes::partitions},
                Field{"reservations", &PolicyNodes::reservations});
  }
};

struct PolicySnapshot {
  std::shared_ptr<const SitePolicy> site = std::make_shared<const SitePolicy>();
  std::shared_ptr<const PolicyNodes> nodes = std::make_shared<const PolicyNodes>();
  PolicyUsage usage;
  static constexpr auto Fields(auto list) {
    return list(Field{"book", &PolicySnapshot::site}, Field{"nodes", &PolicySnapshot::nodes},
                Field{"usage", &PolicySnapshot::usage});
  }
};

}  // namespace muster
