#include "scheduler/core/snapshot_builder.h"

#include <algorithm>
#include <set>

#include "scheduler/core/queue_order.h"

namespace muster {
namespace {

std::vector<NodePicture> PicturesOf(const ClusterState& state) {
  std::vector<NodePicture> pictures;
  pictures.reserve(state.nodes().size());
  for (const auto& [id, node] : state.nodes()) {
    pictures.push_back(
        NodePicture{id, node.name, node.machine, node.connected, node.drained, node.taken});
  }
  return pictures;
}

}  // namespace

std::shared_ptr<const Snapshot> BuildSnapshot(const ClusterState& state, Time now) {
  auto snapshot = std::make_shared<Snapshot>();
  snapshot->version = state.version();
  snapshot->now = now;
  snapshot->nodes = PicturesOf(state);
  std::set<JobId> quarantined;
  for (const auto& [id, node] : state.nodes()) {
    for (const QuarantinedAttempt& attempt : node.quarantined) {
      quarantined.insert(attempt.job);
    }
  }
  snapshot->waiting.reserve(state.pending().size());
  for (const JobId id : state.pending()) {
    const Job& job = *state.FindJob(id);
    snapshot->waiting.push_back(WaitingJob{job.id, job.submission, job.array_index, job.spec,
                                           job.held, quarantined.contains(id), job.submitted,
                                           job.last_attempt});
  }
  if (!std::is_sorted(snapshot->waiting.begin(), snapshot->waiting.end(), GoesBefore)) {
    std::sort(snapshot->waiting.begin(), snapshot->waiting.end(), GoesBefore);
  }
  for (const auto& [submission, running] : state.array_running()) {
    snapshot->arrays.push_back(ArrayRunning{submission, running});
  }
  return snapshot;
}

}  // namespace muster
