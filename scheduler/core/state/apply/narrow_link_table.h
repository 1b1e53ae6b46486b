#pragma once

// The narrow links between switches: part of a cluster state.
//
// Thread promise: none; changed only by ClusterState's events. Invariant: sorted by name, each
// once.

#include <string>
#include <vector>

#include "scheduler/model/machine/narrow_link.h"

namespace muster::core {

class NarrowLinkTable {
 public:
  void Load(const std::vector<NarrowLink>& links);
  void Put(const NarrowLink& link);
  void Erase(const NarrowLink& link);

  [[nodiscard]] const std::vector<NarrowLink>& all() const { return all_; }
  // Null when the link between the two is none; in either order.
  [[nodiscard]] const NarrowLink* Find(const std::string& a, const std::string& b) const;

 private:
  std::vector<NarrowLink> all_;
};

}  // namespace muster::core
