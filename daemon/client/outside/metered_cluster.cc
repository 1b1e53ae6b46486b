#include "daemon/client/outside/metered_cluster.h"

#include <algorithm>
#include <iterator>
#include <optional>

#include "scheduler/core/handle/nodes/health_handlers.h"
#include "scheduler/core/state/tables/usage_keys.h"
#include "scheduler/model/machine/amounts.h"

namespace muster::daemon {
namespace {

MeteredJobs RowOf(const Job& job, std::uint32_t count) {
  MeteredJobs row;
  row.spec = job.spec;
  row.state = job.state;
  row.held = job.held && IsWaiting(job.state);
  row.partition = core::EffectivePartition(job.attempt.has_value() ? job.attempt->partition
                                                                   : job.spec->partition);
  row.submitted = job.submitted;
  row.count = count;
  if (job.attempt.has_value()) {
    SetAmounts(AmountsOf(job.attempt->allocation), row);
    row.nodes = static_cast<std::uint32_t>(job.attempt->allocation.nodes.size());
  }
  return row;
}

MeteredNode RowOf(const core::ClusterState& state, const Node& node) {
  return {node.machine,
          node.connected,
          node.drained,
          core::HealthWord(state.health().Of(node.id)),
          node.taken.cpus.Count(),
          node.taken.memory,
          node.taken.gpus,
          state.power().away().contains(node.id),
          node.name};
}

bool Begins(const core::JobRange& a, const core::JobRange& b) {
  return a.first < b.first;
}

// The same ids in ranges that are ascending and apart; and how many they are.
std::size_t Merge(std::vector<core::JobRange>& ranges) {
  std::sort(ranges.begin(), ranges.end(), Begins);
  std::size_t ids = 0;
  std::vector<core::JobRange> merged;
  for (const core::JobRange& range : ranges) {
    if (!merged.empty() && range.first <= merged.back().end) {
      merged.back().end = std::max(merged.back().end, range.end);
    } else {
      merged.push_back(range);
    }
  }
  for (const core::JobRange& range : merged) {
    ids += range.end.value() - range.first.value();
  }
  ranges = std::move(merged);
  return ids;
}

void AddRange(const core::JobTable& jobs, const core::JobRange& range, MeteredChange& change) {
  std::optional<JobId> id = jobs.NextFrom(range.first);
  while (id.has_value() && *id < range.end) {
    const auto left = static_cast<std::uint32_t>(range.end.value() - id->value());
    const std::uint32_t count = std::min(std::max(jobs.UntouchedFrom(*id), 1U), left);
    change.jobs.emplace_back(*id, RowOf(*jobs.Find(*id), count));
    id = jobs.NextFrom(JobId(id->value() + count));
  }
}

void AddAll(const core::ClusterState& state, MeteredChange& change) {
  change.whole = true;
  change.touched.clear();
  state.jobs().ForEachRun([&change](const Job& job, std::uint32_t count) {
    change.jobs.emplace_back(job.id, RowOf(job, count));
  });
  for (const auto& [id, node] : state.nodes()) {
    change.nodes.emplace_back(id, RowOf(state, node));
  }
}

// Takes the ids out of the rows; of one that reaches beyond them, its ends stay.
void Cut(std::map<JobId, MeteredJobs>& jobs, const core::JobRange& range) {
  auto at = jobs.lower_bound(range.first);
  if (at != jobs.begin()) {
    const auto before = std::prev(at);
    const std::uint64_t end = before->first.value() + before->second.count;
    if (end > range.end.value()) {
      MeteredJobs behind = before->second;
      behind.count = static_cast<std::uint32_t>(end - range.end.value());
      at = jobs.emplace_hint(at, range.end, std::move(behind));
    }
    if (end > range.first.value()) {
      before->second.count =
          static_cast<std::uint32_t>(range.first.value() - before->first.value());
    }
  }
  while (at != jobs.end() && at->first < range.end) {
    const std::uint64_t end = at->first.value() + at->second.count;
    if (end > range.end.value()) {
      MeteredJobs behind = std::move(at->second);
      behind.count = static_cast<std::uint32_t>(end - range.end.value());
      jobs.emplace(range.end, std::move(behind));
    }
    at = jobs.erase(at);
  }
}

}  // namespace

MeteredChange LookForMetrics(const StateView& snapshot, Version since) {
  const core::ClusterState& state = snapshot.state();
  MeteredChange change;
  change.since = since;
  change.version = state.version();
  change.time = snapshot.now();
  change.epoch = state.epoch().value();
  change.groups = state.policy().snapshot().nodes;
  std::vector<NodeId> nodes;
  const bool known = snapshot.touched_jobs() != nullptr && since.valid() &&
                     state.touched().AppendSince(since, nodes) &&
                     snapshot.touched_jobs()->AppendSince(since, change.version, change.touched);
  if (!known || Merge(change.touched) > state.jobs().size()) {
    AddAll(state, change);
    return change;
  }
  for (const core::JobRange& range : change.touched) {
    AddRange(state.jobs(), range, change);
  }
  std::sort(nodes.begin(), nodes.end());
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  for (const NodeId id : nodes) {
    if (const Node* const node = state.FindNode(id)) {
      change.nodes.emplace_back(id, RowOf(state, *node));
    }
  }
  return change;
}

bool MeteredCluster::Take(MeteredChange change) {
  if (!change.whole && change.since != version) {
    return false;
  }
  time = change.time;
  epoch = change.epoch;
  version = change.version;
  took = change.took;
  groups = std::move(change.groups);
  if (change.whole) {
    jobs = {std::make_move_iterator(change.jobs.begin()),
            std::make_move_iterator(change.jobs.end())};
    nodes = {std::make_move_iterator(change.nodes.begin()),
             std::make_move_iterator(change.nodes.end())};
    return true;
  }
  for (const core::JobRange& range : change.touched) {
    Cut(jobs, range);
  }
  for (auto& [id, row] : change.jobs) {
    jobs.insert_or_assign(id, std::move(row));
  }
  for (auto& [id, row] : change.nodes) {
    nodes.insert_or_assign(id, std::move(row));
  }
  return true;
}

}  // namespace muster::daemon
