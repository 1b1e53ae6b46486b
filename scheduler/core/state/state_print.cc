#include "scheduler/core/state/state_print.h"

#include "scheduler/model/value/fingerprint.h"

namespace muster::core {

std::uint64_t PrintOf(const ClusterState& state) {
  Fingerprint print;
  print.Add(state.version()).Add(state.epoch()).Add(state.next_job()).Add(state.next_node());
  for (const auto& [id, job] : state.jobs()) {
    print.Add(job).Add(job.spec);
  }
  for (const auto& [id, node] : state.nodes()) {
    print.Add(node).Add(node.taken);
    for (const JobId job : state.JobsOn(id)) {
      print.Add(job);
    }
  }
  print.Add(state.waiting());
  for (const auto& [submission, running] : state.index().array_running()) {
    print.Add(submission).Add(running);
  }
  print.Add(state.policy().site()).Add(state.policy().snapshot().usage);
  print.Add(state.usage().TakeSnapshot().used);
  // Tallies of failures are left out: a store of before they were kept has none of its journal's.
  for (const auto& [id, health] : state.health().nodes()) {
    print.Add(health);
  }
  return print.value();
}

}  // namespace muster::core
