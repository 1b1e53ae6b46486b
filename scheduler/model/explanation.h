#pragma once

// An explanation: why a job waits, or why it runs where it does, node by node.
//
// Made by core/explain, sent by the controller, rendered by the cli. Thread promise: plain values.
// Invariants: (1) `nodes` is in the order of node ids; (2) a node that does not fit says in `text`
// what it lacks, with numbers.

#include <string>
#include <vector>

#include "scheduler/model/fields.h"
#include "scheduler/model/priority.h"
#include "scheduler/model/reason.h"
#include "scheduler/model/time.h"

namespace muster {

// What one node is to the job.
struct NodeAnswer {
  std::string node;
  bool fits = false;
  std::string text;
  static constexpr auto Fields() {
    return std::tuple{Field{"node", &NodeAnswer::node}, Field{"fits", &NodeAnswer::fits},
                      Field{"text", &NodeAnswer::text}};
  }
  friend bool operator==(const NodeAnswer&, const NodeAnswer&) = default;
};

// One change of the request with which the job would start sooner.
struct Suggestion {
  std::string change;  // "--time=1:00:00"
  Time start = kNoTime;
  static constexpr auto Fields() {
    return std::tuple{Field{"change", &Suggestion::change}, Field{"start", &Suggestion::start}};
  }
  friend bool operator==(const Suggestion&, const Suggestion&) = default;
};

struct Explanation {
  Reason reason;        // of kind kNone when the job does not wait
  std::string summary;  // one sentence
  std::vector<NodeAnswer> nodes;
  Priority priority;  // without terms where none is reckoned
  static constexpr auto Fields() {
    return std::tuple{Field{"reason", &Explanation::reason},
                      Field{"summary", &Explanation::summary}, Field{"nodes", &Explanation::nodes},
                      Field{"priority", &Explanation::priority}};
  }
  friend bool operator==(const Explanation&, const Explanation&) = default;
};

}  // namespace muster
