#include "scheduler/core/state/touched_nodes.h"

#include <algorithm>
#include <type_traits>
#include <variant>

namespace muster::core {

void TouchedNodes::Touch(NodeId node, Version version) {
  if (touches_.size() == kMax) {
    since_ = std::max(since_, touches_.front().first);
    touches_.pop_front();
  }
  touches_.emplace_back(version, node);
}

bool TouchedNodes::AppendSince(Version since, std::vector<NodeId>& nodes) const {
  if (since_ > since) {
    return false;
  }
  for (auto touch = touches_.rbegin(); touch != touches_.rend() && touch->first > since; ++touch) {
    nodes.push_back(touch->second);
  }
  return true;
}

void TouchedNodes::Note(const Event& event, const JobTable& jobs, Version version) {
  const auto touch_nodes_of = [&](JobId id) {
    const Job* job = jobs.Find(id);
    if (job != nullptr && job->attempt.has_value()) {
      for (const NodeAllocation& part : job->attempt->allocation.nodes) {
        Touch(part.node, version);
      }
    }
  };
  std::visit(
      [&](const auto& change) {
        using Change = std::decay_t<decltype(change)>;
        if constexpr (std::is_same_v<Change, EpochBegan> || std::is_same_v<Change, NodeForgotten>) {
          since_ = version;  // every node
        } else if constexpr (std::is_same_v<Change, RunReported>) {
          touch_nodes_of(change.report.job);
        } else if constexpr (requires { change.job; }) {
          touch_nodes_of(change.job);
        }
        if constexpr (requires { change.node; }) {
          Touch(change.node, version);
        }
      },
      event);
}

}  // namespace muster::core
