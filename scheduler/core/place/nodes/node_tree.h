#pragma once

// The switches above a cluster's nodes, as one tree: what the span of a job is measured by.
//
// Made once for a network and a list of nodes. Where a network has no switches its base blocks are
// the leaves, below what they may be put together to; where it has NVLink domains alone, those are.
// A node that the network does not name is a leaf of its own. Thread promise: immutable once made.
// Invariants: (1) a switch stands after its parent; (2) the first one, and no other, has no parent
// and is above all nodes; (3) every node has a leaf; (4) a level is one more than the highest of
// the switches below, 0 where there are none; (5) no node is on both sides of a narrow link.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "scheduler/model/machine/machine.h"
#include "scheduler/model/machine/narrow_link.h"
#include "scheduler/model/machine/network.h"
#include "scheduler/model/plan/snapshot.h"

namespace muster::core {

class NodeTree {
 public:
  // `links`: narrow ones; those of switches that the network does not have are left out.
  NodeTree(const Network& network, const std::vector<NodeSnapshot>& nodes,
           const std::vector<NarrowLink>& links = {});

  // How many switches there are, all numbers below this.
  [[nodiscard]] std::size_t size() const { return parents_.size(); }
  // kNowhere for the first one.
  [[nodiscard]] std::uint32_t ParentOf(std::uint32_t at) const { return parents_[at]; }
  [[nodiscard]] std::uint32_t LevelOf(std::uint32_t at) const { return levels_[at]; }
  // The switch on which the node, by its position, hangs.
  [[nodiscard]] std::uint32_t LeafOf(std::uint32_t node) const { return leaf_of_[node]; }

  // The narrow links. Those of number i have the sides 2 i and 2 i + 1.
  [[nodiscard]] const std::vector<NarrowLink>& links() const { return links_; }
  // On which of these sides the node is; ascending.
  [[nodiscard]] const std::vector<std::uint32_t>& SidesOf(std::uint32_t node) const {
    return links_.empty() ? no_sides_ : sides_[leaf_of_[node]];
  }

 private:
  // The numbers of the network's leaves: switches, base blocks or domains.
  std::vector<std::uint32_t> AddSwitches(const Network& network);
  std::vector<std::uint32_t> AddBlocks(const Network& network);
  std::uint32_t Add(std::uint32_t parent);
  // `numbers`: of the network's switches.
  void AddLinks(const Network& network, const std::vector<std::uint32_t>& numbers,
                const std::vector<NarrowLink>& links);

  std::vector<std::uint32_t> parents_;
  std::vector<std::uint32_t> levels_;
  std::vector<std::uint32_t> leaf_of_;  // by node
  std::vector<NarrowLink> links_;
  std::vector<std::vector<std::uint32_t>> sides_;  // by switch; empty where there are no links
  std::vector<std::uint32_t> no_sides_;
};

}  // namespace muster::core
