#include "scheduler/core/snapshot_builder.h"

#include <algorithm>
#include <set>

#include "scheduler/core/node_timeline.h"
#include "scheduler/core/queue_order.h"

namespace muster {
namespace {

Holding HoldingOf(const Job& job, NodeId node) {
  const Attempt& attempt = *job.attempt;
  const NodeAllocation& part = attempt.allocation.nodes[*RunOn(attempt, node)];
  Holding holding;
  holding.job = job.id;
  if (const Duration limit = PlannedDuration(job.spec->time_limit); limit.count() > 0) {
    holding.ends = attempt.started + limit;
  }
  if (attempt.ending != EndCause::kNone) {
    holding.ends = attempt.started;  // any moment now
  }
  holding.cpus = part.cpus;
  holding.memory = part.memory;
  for (const GpuGrant& grant : part.gpus) {
    holding.gpus.push_back(grant.gpu);
  }
  return holding;
}

RunningJob RunningOf(const Job& job) {
  const Attempt& attempt = *job.attempt;
  RunningJob running{job.id,
                     job.spec,
                     attempt.number,
                     attempt.started,
                     attempt.billing,
                     attempt.partition,
                     attempt.ending != EndCause::kNone,
                     0,
                     Bytes(),
                     0,
                     {}};
  for (const NodeAllocation& part : attempt.allocation.nodes) {
    running.cpus += part.cpus.Count();
    running.memory += part.memory;
    running.gpus += static_cast<std::uint32_t>(part.gpus.size());
    running.nodes.push_back(part.node);
  }
  return running;
}

// Those that hold something of the nodes.
std::vector<NodePicture> PicturesOf(const ClusterState& state, std::vector<RunningJob>& running) {
  std::vector<NodePicture> pictures;
  pictures.reserve(state.nodes().size());
  for (const auto& [id, node] : state.nodes()) {
    pictures.push_back(NodePicture{id,
                                   node.name,
                                   node.machine,
                                   node.connected,
                                   node.drained,
                                   node.taken,
                                   {},
                                   node.features,
                                   node.weight});
    for (const JobId job : state.JobsOn(id)) {
      const Job& holder = *state.FindJob(job);
      pictures.back().holdings.push_back(HoldingOf(holder, id));
      if (holder.attempt->allocation.nodes.front().node == id) {
        running.push_back(RunningOf(holder));
      }
    }
  }
  std::sort(running.begin(), running.end(),
            [](const RunningJob& a, const RunningJob& b) { return a.id < b.id; });
  return pictures;
}

bool GoesByElement(const JobSpec& spec) {
  return std::any_of(
      spec.dependency.terms.begin(), spec.dependency.terms.end(),
      [](const DependencyTerm& term) { return term.kind == DependencyKind::kAfterCorr; });
}

// The waiting jobs: the elements of an array that nobody has touched stand in one entry, but for
// those that differ in more than their index.
std::vector<WaitingJob> WaitingOf(const ClusterState& state, Time now) {
  std::set<JobId> quarantined;
  for (const auto& [id, node] : state.nodes()) {
    for (const QuarantinedAttempt& attempt : node.quarantined) {
      quarantined.insert(attempt.job);
    }
  }
  std::vector<WaitingJob> waiting;
  const auto add = [&](const Job& job, std::uint32_t count) {
    waiting.push_back(WaitingJob{job.id, job.submission, job.array_index, job.spec, job.held,
                                 quarantined.contains(job.id), job.submitted, job.last_attempt,
                                 job.held_by, state.dependencies().Look(job, now), count});
  };
  state.jobs().ForEachRun([&](const Job& job, std::uint32_t count) {
    if (job.state != JobState::kPending) {
      return;
    }
    if (count == 1 || !GoesByElement(*job.spec)) {
      add(job, count);
      return;
    }
    for (std::uint32_t i = 0; i < count; ++i) {
      add(*state.FindJob(JobId(job.id.value() + i)), 1);
    }
  });
  return waiting;
}

}  // namespace

std::shared_ptr<const Snapshot> BuildSnapshot(const ClusterState& state, Time now,
                                              const Plan* last) {
  auto snapshot = std::make_shared<Snapshot>();
  snapshot->version = state.version();
  snapshot->now = now;
  snapshot->nodes = PicturesOf(state, snapshot->running);
  snapshot->usage = state.usage().Picture();
  snapshot->waiting = WaitingOf(state, now);
  if (!std::is_sorted(snapshot->waiting.begin(), snapshot->waiting.end(), GoesBefore)) {
    std::sort(snapshot->waiting.begin(), snapshot->waiting.end(), GoesBefore);
  }
  for (const auto& [submission, running] : state.array_running()) {
    snapshot->arrays.push_back(ArrayRunning{submission, running});
  }
  if (last != nullptr) {
    snapshot->promised = last->reservations;
    std::sort(snapshot->promised.begin(), snapshot->promised.end(),
              [](const auto& a, const auto& b) { return a.job < b.job; });
  }
  snapshot->licenses = state.licenses().Uses();
  if (state.policy().active()) {
    snapshot->policy = std::make_shared<const PolicyPicture>(state.policy().picture());
  }
  return snapshot;
}

}  // namespace muster
