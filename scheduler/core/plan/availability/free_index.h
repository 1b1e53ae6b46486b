#pragma once

// Nodes in the order in which a job that fits on one of them looks for it: the lightest first, of
// those the tightest now.
//
// Thread promise: none; owned by one cycle at a time. Invariants: a node is under one key at most;
// nodes of one key are visited by position.

#include <array>
#include <cstdint>
#include <map>
#include <set>

namespace muster::core {

class FreeIndex {
 public:
  // Weight, GPUs and cores that are free now.
  using Key = std::array<std::uint32_t, 3>;

  void Add(std::uint32_t node, const Key& key) { nodes_[key].insert(node); }
  // REQUIRES: the node is under `before`.
  void Move(std::uint32_t node, const Key& before, const Key& after) {
    const auto bucket = nodes_.find(before);
    bucket->second.erase(node);
    if (bucket->second.empty()) {
      nodes_.erase(bucket);
    }
    Add(node, after);
  }

  // Calls visit(node) for the nodes with at least that many GPUs and cores free, in order, until it
  // returns false.
  template <class Visitor>
  void VisitWith(std::uint32_t gpus, std::uint32_t cores, const Visitor& visit) const {
    for (const auto& [key, nodes] : nodes_) {
      if (key[1] < gpus || key[2] < cores) {
        continue;
      }
      for (const std::uint32_t node : nodes) {
        if (!visit(node)) {
          return;
        }
      }
    }
  }

 private:
  std::map<Key, std::set<std::uint32_t>> nodes_;
};

}  // namespace muster::core
