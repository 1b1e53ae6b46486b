#include "scheduler/core/handle/nodes/drain_handlers.h"

#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "scheduler/core/handle/attempts/attempt_end.h"
#include "scheduler/core/handle/attempts/checkpoint_handlers.h"
#include "scheduler/core/handle/nodes/link_handlers.h"
#include "scheduler/core/handle/nodes/maintenance_handlers.h"
#include "scheduler/core/handle/nodes/power_handlers.h"

namespace muster::core {
namespace {

absl::Status CheckTimes(const DrainNode& command, Time now) {
  const bool has_until = command.until != kNoTime;
  const bool has_deadline = command.deadline != kNoTime;
  if (!command.drained && (has_until || has_deadline)) {
    return absl::InvalidArgumentError(
        "a node is resumed at once: leave --until and --deadline out");
  }
  if (command.narrow && has_deadline) {
    return absl::InvalidArgumentError(
        "--deadline: no job has to leave a node that is drained with --narrow");
  }
  if (has_until && command.until <= now) {
    return absl::InvalidArgumentError("--until: that time has passed");
  }
  if (has_deadline && command.deadline <= now) {
    return absl::InvalidArgumentError("--deadline: that time has passed");
  }
  if (has_until && has_deadline && command.until < command.deadline) {
    return absl::InvalidArgumentError("--until: before --deadline");
  }
  return absl::OkStatus();
}

// What the command makes of the node.
NodeDrained Asked(const DrainNode& command, NodeId node, Time now) {
  return {.node = node,
          .drained = command.drained && !command.narrow,
          .reason = command.reason,
          .time = now,
          .by_health = false,
          .until = command.until,
          .deadline = command.deadline,
          .narrow = command.drained && command.narrow};
}

bool IsAsAsked(const Node& node, const NodeDrained& asked) {
  return node.drained == asked.drained && node.narrow == asked.narrow &&
         ((!asked.drained && !asked.narrow) ||
          (node.drain_reason == asked.reason && node.drain_until == asked.until &&
           node.drain_deadline == asked.deadline));
}

// Has jobs leave the node as its deadline comes, but those that were told before.
void HaveJobsLeave(const ClusterState& state, const Node& node, Time now,
                   const SchedulerConfig& config, std::set<JobId>& told, Transition& transition) {
  const std::string why = absl::StrCat("drain of node ", node.name, " (", node.drain_reason, ")");
  for (const JobId id : state.JobsOn(node.id)) {
    const Job& job = *state.FindJob(id);
    if (!job.attempt.has_value() || told.contains(id) ||
        !IsToLeaveSoon(state, job, node.drain_deadline, now, config)) {
      continue;
    }
    if (now >= node.drain_deadline && !RunsOnElsewhere(job)) {
      EndAttempt(job, {EndCause::kCancelled, why}, now, transition);
      told.insert(id);
    } else if (HaveLeave(job, why, now, transition)) {
      told.insert(id);
    }
  }
}

}  // namespace

Transition On(const ClusterState& state, const DrainNode& command, Time now,
              const SchedulerConfig& config) {
  if (!command.link_to.empty()) {
    return NarrowOrResume(state, command, now, config);
  }
  const Node* node = state.FindNode(command.name);
  if (node == nullptr) {
    return Refused(absl::NotFoundError(
        absl::StrCat("node ", command.name, ": no such node; see muster nodes")));
  }
  if (command.drained && command.reason.empty()) {
    return Refused(absl::InvalidArgumentError("--reason: say why the node is drained"));
  }
  if (const absl::Status times = CheckTimes(command, now); !times.ok()) {
    return Refused(times);
  }
  Transition transition;
  transition.node = node->id;
  if (!command.drained) {
    TryPowerAgain(state, *node, now, transition);
  }
  const NodeDrained asked = Asked(command, node->id, now);
  if (!IsAsAsked(*node, asked)) {
    if (asked.drained && !node->drained) {
      NoticeDrain(state, node->id, now, transition);
    }
    transition.events.emplace_back(asked);
    transition.effects.emplace_back(Replan{});
  }
  return transition;
}

void KeepDrainTimes(const ClusterState& state, Time now, const SchedulerConfig& config,
                    Transition& transition) {
  std::set<JobId> told;
  for (const auto& [id, node] : state.nodes()) {
    if (node.drain_until != kNoTime && now >= node.drain_until) {
      transition.events.emplace_back(NodeDrained{id, false, "", now});
      transition.effects.emplace_back(Replan{});
    } else if (node.drain_deadline != kNoTime) {
      HaveJobsLeave(state, node, now, config, told, transition);
    }
  }
}

}  // namespace muster::core
