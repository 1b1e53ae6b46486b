#pragma once

// Nodes whose GPUs Muster divides by MIG when waiting jobs ask for it: one [mig.NAME] of the
// configuration.
//
// Invariant: a node that is in no class keeps its GPUs as they are.

#include <string>
#include <vector>

#include "scheduler/model/value/fields.h"

namespace muster {

// Instances that one GPU has together.
struct MigLayout {
  std::vector<std::string> profiles;
  static constexpr auto Fields(auto list) { return list(Field{"profiles", &MigLayout::profiles}); }
  friend bool operator==(const MigLayout&, const MigLayout&) = default;
};

struct MigClass {
  std::string name;
  std::string nodes;               // a host list; "ALL": every node
  std::vector<MigLayout> layouts;  // these alone; none: whatever the GPU can be
  static constexpr auto Fields(auto list) {
    return list(Field{"name", &MigClass::name}, Field{"nodes", &MigClass::nodes},
                Field{"layouts", &MigClass::layouts});
  }
  friend bool operator==(const MigClass&, const MigClass&) = default;
};

}  // namespace muster
