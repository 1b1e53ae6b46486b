// Which nodes an event changes, or jobs on which it does: what a snapshot must make anew.
#include <type_traits>
#include <variant>

#include "scheduler/core/state/cluster_state.h"

namespace muster {

void ClusterState::Touch(NodeId node, Version version) {
  if (node.value() >= touched_.size()) {
    touched_.resize(node.value() + 1);
  }
  touched_[node.value()] = version;
  constexpr std::size_t kTouchesKept = 1U << 16;
  if (touches_.size() == kTouchesKept) {
    touches_since_ = touches_.front().first;
    touches_.pop_front();
  }
  touches_.emplace_back(version, node);
}

bool ClusterState::AppendTouched(Version since, std::vector<NodeId>& nodes) const {
  if (all_touched_ > since || touches_since_ > since) {
    return false;
  }
  for (auto touch = touches_.rbegin(); touch != touches_.rend() && touch->first > since; ++touch) {
    nodes.push_back(touch->second);
  }
  return true;
}

void ClusterState::Touch(const Event& event, Version version) {
  const auto touch_nodes_of = [this, version](JobId id) {
    const Job* job = FindJob(id);
    if (job != nullptr && job->attempt.has_value()) {
      for (const NodeAllocation& part : job->attempt->allocation.nodes) {
        Touch(part.node, version);
      }
    }
  };
  std::visit(
      [&](const auto& change) {
        using Change = std::decay_t<decltype(change)>;
        if constexpr (std::is_same_v<Change, EpochBegan>) {
          all_touched_ = version;
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

}  // namespace muster
