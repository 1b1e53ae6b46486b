#include "scheduler/core/plan/power_demand.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "scheduler/core/place/nodes/task_capacity.h"
#include "scheduler/core/plan/planner.h"
#include "scheduler/core/plan/search/nodes_at_once.h"
#include "scheduler/core/plan/search/planned_nodes.h"
#include "scheduler/core/plan/second_plan.h"
#include "scheduler/core/power/power_limits.h"

namespace muster::core {
namespace {

// Waiting jobs, runs of an array's elements as one, that are planned a second time.
constexpr std::size_t kJobsAsked = 1000;
// So often it is planned again without jobs for which too many nodes would be on.
constexpr int kRoundsMost = 4;

// It begins as soon as its nodes are ready, some of which are not yet.
bool WaitsForBoot(const Snapshot& snapshot, const PlannedReservation& place) {
  Time ready = kNoTime;
  for (const ReservedNode& reserved : place.nodes) {
    const NodeSnapshot& node = snapshot.nodes[*PositionOf(snapshot, reserved.node)];
    ready = node.ready == kNoTime ? ready : std::max(ready, ReadyAt(node, snapshot.now));
  }
  return place.start <= ready;
}

// Those that ask for nothing here. Under the order called prompt places are kept as late as
// promises allow, so that one says something only where it begins as soon as it can.
std::set<JobId> Settled(const Snapshot& snapshot, const Plan& plan, const SchedulerConfig& config) {
  std::set<JobId> settled;
  for (const PlannedStart& start : plan.starts) {
    settled.insert(start.job);
  }
  for (const PlannedReservation& place : plan.reservations) {
    if (config.priority.order != QueueRule::kPrompt || WaitsForBoot(snapshot, place)) {
      settled.insert(place.job);
    }
  }
  return settled;
}

Snapshot AsIfOn(const Snapshot& snapshot, std::vector<WaitingJob> waiting) {
  Snapshot on = WithOthersWaiting(snapshot, std::move(waiting));
  for (NodeSnapshot& node : on.nodes) {
    if (node.ready != kNoTime) {
      node.ready = kNoTime;
      node.taken = NodeUse();
      node.taken.gpus.resize(node.machine->gpus.size());
    }
  }
  return on;
}

// Of classes that have a maximum, which nodes are on, or are asked for so far.
class OnAtOnce {
 public:
  OnAtOnce(const std::vector<NodeSnapshot>& nodes, const std::vector<PowerClass>& power)
      : limits_(power) {
    for (const NodeSnapshot& node : nodes) {
      if (const PowerClass* const kind = limits_.Of(node.name);
          kind != nullptr && node.ready == kNoTime && !HasFailedToBoot(node)) {
        on_[kind].insert(node.id);
      }
    }
  }

  // Whether these may be on beside those; then they are asked for.
  bool Admit(const std::vector<NodeAllocation>& parts) {
    std::map<const PowerClass*, std::set<NodeId>> then;
    for (const NodeAllocation& part : parts) {
      if (const PowerClass* const kind = limits_.Of(part.name)) {
        std::set<NodeId>& on = then.try_emplace(kind, on_[kind]).first->second;
        on.insert(part.node);
        if (on.size() > kind->most_on) {
          return false;
        }
      }
    }
    for (auto& [kind, on] : then) {
      on_[kind] = std::move(on);
    }
    return true;
  }

 private:
  PowerLimits limits_;
  std::map<const PowerClass*, std::set<NodeId>> on_;
};

std::set<NodeId> AwayIn(const Snapshot& snapshot) {
  std::set<NodeId> away;
  for (const NodeSnapshot& node : snapshot.nodes) {
    if (node.ready != kNoTime) {
      away.insert(away.end(), node.id);
    }
  }
  return away;
}

}  // namespace

std::vector<NodeId> NodesWanted(const Snapshot& snapshot, const Plan& plan,
                                const SchedulerConfig& config) {
  const std::set<NodeId> away = AwayIn(snapshot);
  const std::set<JobId> settled =
      away.empty() ? std::set<JobId>() : Settled(snapshot, plan, config);
  const bool any =
      !away.empty() &&
      std::any_of(plan.waiting.begin(), plan.waiting.end(), [&settled](const LeftWaiting& left) {
        return WaitsForNodes(left) && !settled.contains(left.job);
      });
  if (!any) {
    return {};
  }
  std::set<NodeId> wanted;
  std::set<JobId> refused;
  OnAtOnce on(snapshot.nodes, config.power);
  for (int round = 0; round < kRoundsMost; ++round) {
    const std::size_t before = refused.size();
    for (const PlannedStart& start :
         MakePlan(AsIfOn(snapshot, FirstJobs(snapshot, plan, kJobsAsked, refused)), config)
             .starts) {
      const std::vector<NodeAllocation>& parts = start.allocation.nodes;
      const auto is_away = [&away](const NodeAllocation& part) { return away.contains(part.node); };
      if (std::none_of(parts.begin(), parts.end(), is_away)) {
        continue;
      }
      if (!on.Admit(parts)) {
        refused.insert(start.job);
      } else if (!settled.contains(start.job)) {
        for (const NodeAllocation& part : parts) {
          wanted.insert(part.node);
        }
      }
    }
    if (refused.size() == before) {
      break;
    }
  }
  return {wanted.begin(), wanted.end()};
}

}  // namespace muster::core
