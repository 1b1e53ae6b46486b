#pragma once

// An explanation: why a job waits, or why it runs where it does, node by node.
//
// Made by core/explain, sent by the controller, rendered by the cli. Invariants: (1) `nodes` is in
// the order of node ids; (2) a node that does not fit says in `text` what it lacks, with numbers.

#include <string>
#include <vector>

#include "scheduler/model/plan/reason.h"
#include "scheduler/model/policy/priority.h"
#include "scheduler/model/value/fields.h"
#include "scheduler/model/value/time.h"
#include "scheduler/model/value/units.h"

namespace muster {

// What one node is to the job.
struct NodeAnswer {
  std::string node;
  bool fits = false;
  std::string text;
  static constexpr auto Fields(auto list) {
    return list(Field{"node", &NodeAnswer::node}, Field{"fits", &NodeAnswer::fits},
                Field{"text", &NodeAnswer::text});
  }
  friend bool operator==(const NodeAnswer&, const NodeAnswer&) = default;
};

// One change of the request with which the job would start sooner.
struct Suggestion {
  std::string change;  // "--time=1:00:00"
  Time start = kNoTime;
  static constexpr auto Fields(auto list) {
    return list(Field{"change", &Suggestion::change}, Field{"start", &Suggestion::start});
  }
  friend bool operator==(const Suggestion&, const Suggestion&) = default;
};

// How long a collective over a placement is predicted to take, and over one without topology.
struct PredictedCollective {
  std::string name;  // "allreduce"
  Bytes bytes;
  std::uint64_t nanoseconds = 0;
  std::string algorithm;
  std::uint64_t default_nanoseconds = 0;  // in blocks; 0: it would not fit there, or sends nothing
  std::string default_algorithm;
  static constexpr auto Fields(auto list) {
    return list(Field{"name", &PredictedCollective::name},
                Field{"bytes", &PredictedCollective::bytes},
                Field{"nanoseconds", &PredictedCollective::nanoseconds},
                Field{"algorithm", &PredictedCollective::algorithm},
                Field{"default_nanoseconds", &PredictedCollective::default_nanoseconds},
                Field{"default_algorithm", &PredictedCollective::default_algorithm});
  }
  friend bool operator==(const PredictedCollective&, const PredictedCollective&) = default;
};

// What a job's placement is worth.
struct PlacementQuality {
  std::uint32_t ranks = 0;  // 0: nothing is known
  std::uint32_t local_ranks = 0;
  std::string span;  // "below switch s1, 2 leaf switches"; empty: one node, or no network is known
  std::vector<PredictedCollective> predicted;
  static constexpr auto Fields(auto list) {
    return list(Field{"ranks", &PlacementQuality::ranks},
                Field{"local_ranks", &PlacementQuality::local_ranks},
                Field{"span", &PlacementQuality::span},
                Field{"predicted", &PlacementQuality::predicted});
  }
  friend bool operator==(const PlacementQuality&, const PlacementQuality&) = default;
};

struct Explanation {
  Reason reason;        // of kind kNone when the job does not wait
  std::string summary;  // one sentence
  std::vector<NodeAnswer> nodes;
  Priority priority;                // without terms where none is reckoned
  PlacementQuality placement = {};  // of a running job
  static constexpr auto Fields(auto list) {
    return list(Field{"reason", &Explanation::reason}, Field{"summary", &Explanation::summary},
                Field{"nodes", &Explanation::nodes}, Field{"priority", &Explanation::priority},
                Field{"placement", &Explanation::placement});
  }
  friend bool operator==(const Explanation&, const Explanation&) = default;
};

}  // namespace muster
