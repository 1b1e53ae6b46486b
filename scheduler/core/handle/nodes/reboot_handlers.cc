#include "scheduler/core/handle/nodes/reboot_handlers.h"

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "scheduler/core/handle/attempts/checkpoint_handlers.h"

namespace muster::core {
namespace {

// By this beginning of its reason a drain is known as a reboot's.
constexpr const char* kRebootReason = "reboot";

bool IsWanted(const NodeHealth& health) {
  return health.wanted && health.wanted_kind == HealthKind::kReboot;
}

HealthRecord RecordOf(const NodeHealth& health, HealthOutcome outcome, std::string text, Time now) {
  HealthRecord record;
  record.number = health.number;
  record.kind = HealthKind::kReboot;
  record.cause = HealthCause::kAsked;
  record.outcome = outcome;
  record.time = now;
  record.took = health.running ? now - health.ordered : Duration(0);
  record.text = std::move(text);
  return record;
}

Transition Cancel(const ClusterState& state, const Node& node, Time now) {
  Transition transition;
  const NodeHealth& health = state.health().Of(node.id);
  transition.node = node.id;
  if (health.running && health.kind == HealthKind::kReboot) {
    transition.status = absl::FailedPreconditionError(
        absl::StrCat("node ", node.name, ": is being rebooted: too late to take that back"));
  } else if (!IsWanted(health)) {
    transition.status = absl::FailedPreconditionError(
        absl::StrCat("node ", node.name, ": no reboot of it was asked for"));
  } else {
    transition.events.emplace_back(HealthChecked{
        node.id, RecordOf(health, HealthOutcome::kBroken, "taken back", now), now});
    ResumeAfterReboot(state, node, now, transition);
  }
  return transition;
}

}  // namespace

std::string WhyBusy(const ClusterState& state, const Node& node) {
  if (!node.connected) {
    return "its agent does not answer";
  }
  const std::size_t jobs = state.JobsOn(node.id).size() + node.quarantined.size();
  return jobs == 0 ? "" : absl::StrCat(jobs, jobs == 1 ? " job is" : " jobs are", " on it");
}

void DrainForReboot(const Node& node, const std::string& reason, bool keep, Time now,
                    Transition& transition) {
  transition.events.emplace_back(NodeDrained{
      node.id, true, absl::StrCat(kRebootReason, reason.empty() ? "" : ": ", reason), now, !keep});
  transition.effects.emplace_back(Replan{});
}

void ResumeAfterReboot(const ClusterState& state, const Node& node, Time now,
                       Transition& transition) {
  if (node.drained && state.health().Of(node.id).drained &&
      absl::StartsWith(node.drain_reason, kRebootReason)) {
    transition.events.emplace_back(NodeDrained{node.id, false, "", now, /*by_health=*/true});
    transition.effects.emplace_back(Replan{});
  }
}

void NoticeReboot(const ClusterState& state, const Node& node, const std::string& boot_id, Time now,
                  Transition& transition) {
  const NodeHealth& health = state.health().Of(node.id);
  if (health.running && health.kind == HealthKind::kReboot && health.boot_id != boot_id) {
    transition.events.emplace_back(
        HealthChecked{node.id, RecordOf(health, HealthOutcome::kRebooted, "", now), now});
    ResumeAfterReboot(state, node, now, transition);
  }
}

Transition On(const ClusterState& state, const RebootNode& command, Time now,
              const SchedulerConfig&) {
  Transition transition;
  const Node* const node = state.FindNode(command.name);
  if (node == nullptr) {
    transition.status = absl::NotFoundError(
        absl::StrCat("node ", command.name, ": no such node; see muster nodes"));
    return transition;
  }
  if (command.cancel) {
    return Cancel(state, *node, now);
  }
  if (command.keep_drained && !command.drain) {
    transition.status = absl::InvalidArgumentError(
        "--keep-drained: only for a node that is drained for its reboot: leave --when idle out");
    return transition;
  }
  const NodeHealth& health = state.health().Of(node->id);
  if (health.running) {
    transition.status = absl::FailedPreconditionError(
        absl::StrCat("node ", node->name, ": is being ",
                     health.kind == HealthKind::kReboot ? "rebooted" : "checked",
                     ": ask again afterwards"));
    return transition;
  }
  transition.node = node->id;
  transition.count = static_cast<std::uint32_t>(health.number + 1);
  const bool now_free = WhyBusy(state, *node).empty();
  if (!node->drained && (command.drain || now_free)) {
    NoticeDrain(state, node->id, now, transition);
    DrainForReboot(*node, command.reason, command.keep_drained, now, transition);
  }
  transition.events.emplace_back(HealthCheckWanted{node->id, HealthKind::kReboot, now});
  if (now_free) {
    transition.events.emplace_back(HealthCheckOrdered{
        node->id, health.number + 1, HealthKind::kReboot, HealthCause::kAsked, now});
    transition.effects.emplace_back(CheckHealth{node->id});
  }
  return transition;
}

}  // namespace muster::core
