#include "scheduler/core/handle/submit/never_fits.h"

#include <algorithm>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "scheduler/core/place/nodes/feature_match.h"
#include "scheduler/core/place/nodes/task_capacity.h"
#include "scheduler/core/place/request.h"
#include "scheduler/core/plan/search/feasibility.h"
#include "scheduler/core/plan/search/nodes_at_once.h"
#include "scheduler/core/policy/job_partition.h"
#include "scheduler/core/policy/policy_filter.h"
#include "scheduler/core/power/power_limits.h"
#include "scheduler/core/state/tables/alternatives.h"

namespace muster::core {
namespace {

bool Has(const JobPartition& partition, NodeId node) {
  return partition.nodes == nullptr || partition.nodes->Has(node);
}

// The smallest maximum of nodes that are on at once, of any class.
std::uint32_t LeastAtOnce(const std::vector<PowerClass>& power) {
  std::uint32_t least = UINT32_MAX;
  for (const PowerClass& kind : power) {
    least = kind.most_on > 0 ? std::min(least, kind.most_on) : least;
  }
  return least;
}

// Whether a quick look finds nodes enough, of which any `at_once` may be on together. It
// may say yes where switches or segments say no, which the planner finds out.
bool SurelyFits(const ClusterState& state, const ResourceRequest& request,
                const JobPartition& partition, std::uint32_t at_once) {
  if (DescribesNodes(request)) {
    return false;
  }
  const std::uint32_t limit = MostTasksOnNode(request);
  std::map<const Machine*, std::uint32_t> known;
  std::vector<std::uint32_t> rooms;
  std::uint64_t tasks = 0;
  for (const auto& [id, node] : state.nodes()) {
    if (!Has(partition, id)) {
      continue;
    }
    const auto [found, is_new] = known.emplace(node.machine.get(), 0);
    if (is_new) {
      const NodeCapacity capacity = CapacityOf(*node.machine);
      found->second = RoomFor(capacity.all, capacity, ScaleOf(capacity, request), limit);
    }
    if (found->second == 0) {
      continue;
    }
    rooms.push_back(found->second);
    tasks += found->second;
    if (rooms.size() >= request.min_nodes && rooms.size() <= request.max_nodes &&
        rooms.size() <= at_once && tasks >= request.tasks) {
      return true;
    }
  }
  if (rooms.size() < request.min_nodes || at_once < UINT32_MAX) {
    return false;
  }
  std::sort(rooms.begin(), rooms.end(), std::greater<>());
  tasks = 0;
  for (std::size_t i = 0; i < std::min<std::size_t>(rooms.size(), request.max_nodes); ++i) {
    tasks += rooms[i];
  }
  return tasks >= request.tasks;
}

std::optional<Reason> WhyNeverIn(const ClusterState& state, const ResourceRequest& request,
                                 const JobPartition& partition,
                                 const std::vector<PowerClass>& power) {
  if (SurelyFits(state, request, partition, LeastAtOnce(power))) {
    return std::nullopt;
  }
  std::vector<NodeSnapshot> nodes;
  for (const auto& [id, node] : state.nodes()) {
    if (Has(partition, id)) {
      nodes.push_back(NodeSnapshot{
          id, node.name, node.machine, true, false, {}, {}, node.features, node.weight});
    }
  }
  std::optional<Reason> why = WhyNever(nodes, request);
  return why.has_value() ? why
                         : NeverOnAtOnce(nodes, /*inside=*/nullptr, request, PowerLimits(power));
}

}  // namespace

std::optional<Reason> WhyNeverFits(const ClusterState& state, const JobSpec& spec,
                                   const std::vector<PowerClass>& power) {
  if (state.nodes().empty()) {
    return std::nullopt;
  }
  std::optional<Reason> first;
  for (std::uint32_t i = 0; i < AlternativesOf(spec); ++i) {
    const JobSpec chosen = i == 0 ? spec : AsChosen(spec, i, 0);
    const PolicySnapshot& policy = state.policy().snapshot();
    std::vector<JobPartition> partitions = PartitionsOf(policy, chosen);
    if (partitions.empty()) {
      partitions.emplace_back();
    }
    for (const JobPartition& partition : partitions) {
      const ResourceRequest request =
          partition.rules == nullptr ? chosen.request : RequestIn(policy, chosen, partition);
      std::optional<Reason> why = WhyNeverIn(state, request, partition, power);
      if (!why.has_value()) {
        return std::nullopt;
      }
      first = first.has_value() ? std::move(first) : std::move(why);
    }
  }
  return first;
}

}  // namespace muster::core
