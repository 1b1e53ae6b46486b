// What events do to the health of nodes.
#include <variant>

#include "scheduler/core/state/books/attempt.h"
#include "scheduler/core/state/cluster_state.h"

namespace muster {

void ClusterState::On(const HealthCheckOrdered& event) {
  health_.Order(event, MustNode(event.node).boot_id);
}

void ClusterState::On(const HealthCheckWanted& event) {
  health_.Want(event);
}

void ClusterState::On(const HealthChecked& event) {
  health_.Take(event);
}

void ClusterState::NoteRunEnd(const Attempt& attempt, const RunReported& event) {
  const auto* ended = std::get_if<RunEnded>(&event.report.fact);
  if (ended != nullptr) {
    health_.NoteRunEnd(event.node, *ended, attempt.runs[*RunOn(attempt, event.node)].started);
  }
}

}  // namespace muster
