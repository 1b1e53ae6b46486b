#include "scheduler/core/state/state_hash.h"

#include "scheduler/model/value/fingerprint.h"

namespace muster::core {

std::uint64_t HashOf(const ClusterState& state) {
  Fingerprint hash;
  hash.Add(state.version()).Add(state.epoch()).Add(state.next_job()).Add(state.node_table().next());
  for (const auto& [id, job] : state.jobs()) {
    hash.Add(job).Add(job.spec);
  }
  for (const auto& [id, node] : state.nodes()) {
    hash.Add(node).Add(node.taken);
    for (const JobId job : state.JobsOn(id)) {
      hash.Add(job);
    }
  }
  hash.Add(WaitingJobs(state));
  for (const auto& [submission, running] : state.index().array_running()) {
    hash.Add(submission).Add(running);
  }
  hash.Add(state.policy().site()).Add(state.policy().snapshot().usage);
  hash.Add(state.usage().TakeSnapshot().used);
  // Tallies of failures are left out: a store of before they were kept has none of its journal's.
  for (const auto& [id, health] : state.health().nodes()) {
    hash.Add(health);
  }
  for (const auto& [id, power] : state.power().nodes()) {
    hash.Add(power);
  }
  for (const auto& [name, alert] : state.alerts().all()) {
    hash.Add(alert);
  }
  for (const NarrowLink& link : state.narrow_links().all()) {
    hash.Add(link);
  }
  return hash.value();
}

}  // namespace muster::core
