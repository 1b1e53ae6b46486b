#pragma once

// Why a job waits, why it runs where it does, or how it ended: the controller's answer as a value.
//
// Fetched by Connection::Explain, rendered by explain as text or JSON with these field names.
// Thread promise: plain values. Invariants: `allocation` is empty unless the job holds resources.

#include <string>
#include <vector>

#include "scheduler/model/allocation.h"
#include "scheduler/model/fields.h"
#include "scheduler/model/view.h"

namespace muster {

// What one node is to the job: waiting, what it lacks; running, why it was chosen.
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

struct Explanation {
  JobView job;
  std::string summary;  // one sentence
  std::vector<NodeAnswer> nodes;
  Allocation allocation;
  static constexpr auto Fields() {
    return std::tuple{Field{"job", &Explanation::job}, Field{"summary", &Explanation::summary},
                      Field{"nodes", &Explanation::nodes},
                      Field{"allocation", &Explanation::allocation}};
  }
  friend bool operator==(const Explanation&, const Explanation&) = default;
};

}  // namespace muster
