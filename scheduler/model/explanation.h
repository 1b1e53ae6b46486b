#pragma once

// Why a job waits, node by node.
//
// Thread promise: plain values. Invariants: `nodes` holds every registered node once, in id order.

#include <string>
#include <vector>

#include "scheduler/model/fields.h"
#include "scheduler/model/reason.h"

namespace muster {

struct NodeAnswer {
  std::string node;
  bool fits = false;  // it could take its share of the job now
  std::string text;   // what it lacks
  static constexpr auto Fields() {
    return std::tuple{Field{"node", &NodeAnswer::node}, Field{"fits", &NodeAnswer::fits},
                      Field{"text", &NodeAnswer::text}};
  }
  friend bool operator==(const NodeAnswer&, const NodeAnswer&) = default;
};

struct Explanation {
  Reason reason;
  std::string summary;  // one sentence
  std::vector<NodeAnswer> nodes;
  static constexpr auto Fields() {
    return std::tuple{Field{"reason", &Explanation::reason},
                      Field{"summary", &Explanation::summary}, Field{"nodes", &Explanation::nodes}};
  }
  friend bool operator==(const Explanation&, const Explanation&) = default;
};

}  // namespace muster
