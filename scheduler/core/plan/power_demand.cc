#include "scheduler/core/plan/power_demand.h"

#include <algorithm>
#include <set>
#include <utility>

#include "scheduler/core/plan/planner.h"

namespace muster::core {
namespace {

// Waiting jobs, runs of an array's elements as one, that are planned a second time.
constexpr std::size_t kJobsMost = 1000;

bool WaitsForNodes(const LeftWaiting& left) {
  switch (left.reason.kind) {
    case ReasonKind::kResources:
    case ReasonKind::kPriority:
    case ReasonKind::kReservation:
    case ReasonKind::kSwitches:
    case ReasonKind::kHetJob:
      return left.reason.verdict == ReasonClass::kNotNow;
    default:
      return false;
  }
}

// Those that ask for nothing here. Under the order called prompt places are kept as late as
// promises allow, so that they say nothing.
std::set<JobId> Settled(const Plan& plan, const SchedulerConfig& config) {
  std::set<JobId> settled;
  for (const PlannedStart& start : plan.starts) {
    settled.insert(start.job);
  }
  if (config.priority.order != QueueRule::kPrompt) {
    for (const PlannedReservation& place : plan.reservations) {
      settled.insert(place.job);
    }
  }
  return settled;
}

// What the plan starts, and the first that it leaves waiting.
std::vector<WaitingJob> First(const Snapshot& snapshot, const Plan& plan) {
  std::set<JobId> first;
  for (const PlannedStart& start : plan.starts) {
    first.insert(start.job);
  }
  for (std::size_t i = 0; i < std::min(kJobsMost, plan.waiting.size()); ++i) {
    first.insert(plan.waiting[i].job);
  }
  std::vector<WaitingJob> waiting;
  for (const WaitingJob& job : snapshot.waiting) {
    const auto found = first.lower_bound(job.id);
    if (found != first.end() && found->value() - job.id.value() < job.count) {
      waiting.push_back(job);
    }
  }
  return waiting;
}

template <class T>
void CopyField(const T& from, T& to) {
  to = from;
}
// They may be very many, and others take their place.
void CopyField(const std::vector<WaitingJob>& /*from*/, std::vector<WaitingJob>& /*to*/) {}

Snapshot AsIfOn(const Snapshot& snapshot, std::vector<WaitingJob> waiting) {
  Snapshot on;
  Snapshot::Fields([&snapshot, &on](const auto&... field) {
    (CopyField(snapshot.*(field.member), on.*(field.member)), ...);
  });
  for (NodeSnapshot& node : on.nodes) {
    if (node.ready != kNoTime) {
      node.ready = kNoTime;
      node.taken = NodeUse();
      node.taken.gpus.resize(node.machine->gpus.size());
    }
  }
  on.waiting = std::move(waiting);
  return on;
}

}  // namespace

std::vector<NodeId> NodesWanted(const Snapshot& snapshot, const Plan& plan,
                                const SchedulerConfig& config) {
  std::set<NodeId> away;
  for (const NodeSnapshot& node : snapshot.nodes) {
    if (node.ready != kNoTime) {
      away.insert(away.end(), node.id);
    }
  }
  const std::set<JobId> settled = away.empty() ? std::set<JobId>() : Settled(plan, config);
  const bool any =
      !away.empty() &&
      std::any_of(plan.waiting.begin(), plan.waiting.end(), [&settled](const LeftWaiting& left) {
        return WaitsForNodes(left) && !settled.contains(left.job);
      });
  if (!any) {
    return {};
  }
  std::set<NodeId> wanted;
  for (const PlannedStart& start :
       MakePlan(AsIfOn(snapshot, First(snapshot, plan)), config).starts) {
    const std::vector<NodeAllocation>& parts = start.allocation.nodes;
    const auto is_away = [&away](const NodeAllocation& part) { return away.contains(part.node); };
    if (!settled.contains(start.job) && std::any_of(parts.begin(), parts.end(), is_away)) {
      for (const NodeAllocation& part : parts) {
        wanted.insert(part.node);
      }
    }
  }
  return {wanted.begin(), wanted.end()};
}

}  // namespace muster::core
