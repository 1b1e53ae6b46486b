#include "scheduler/core/handle/nodes/health_handlers.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "scheduler/core/handle/attempts/checkpoint_handlers.h"
#include "scheduler/core/handle/attempts/write_slots.h"
#include "scheduler/core/handle/nodes/drain_handlers.h"
#include "scheduler/core/handle/nodes/health_judge.h"
#include "scheduler/core/handle/nodes/maintenance_handlers.h"
#include "scheduler/core/handle/nodes/reboot_handlers.h"
#include "scheduler/core/state/tables/failure_rate.h"

namespace muster::core {
namespace {

struct Due {
  HealthKind kind = HealthKind::kQuick;
  HealthCause cause = HealthCause::kAsked;
};

// A check that has not been answered by then never will be.
Duration LimitOf(HealthKind kind) {
  return kind == HealthKind::kQuick ? std::chrono::minutes(10) : std::chrono::minutes(60);
}

// Why the node should be checked now, were it idle.
std::optional<Due> WhyDue(const Node& node, const NodeHealth& health, const FailureTally& tally,
                          const HealthPolicy& policy, Time now) {
  if (health.running) {
    return std::nullopt;
  }
  if (health.wanted) {
    return Due{health.wanted_kind, HealthCause::kAsked};
  }
  const bool too_soon = health.tried != kNoTime && now < health.tried + policy.recheck;
  if (policy.interval == Duration(0) || too_soon) {
    return std::nullopt;
  }
  if (health.drained) {
    return Due{HealthKind::kQuick, HealthCause::kReadmission};
  }
  if (health.slow > 0) {
    return Due{HealthKind::kQuick, HealthCause::kConfirm};
  }
  if (policy.at_boot && health.boot_id != node.boot_id) {
    return Due{HealthKind::kQuick, HealthCause::kBoot};
  }
  if (policy.at_boot && tally.failed != kNoTime && tally.failed > health.last.time) {
    return Due{HealthKind::kQuick, HealthCause::kFailure};
  }
  const bool learning = health.last.status == HealthStatus::kUnjudged;
  if (learning || now >= health.last.time + policy.interval) {
    return Due{HealthKind::kQuick, HealthCause::kSchedule};
  }
  return std::nullopt;
}

void Order(const NodeHealth& health, const Node& on, Due due, Time now, Transition& transition) {
  const NodeId node = on.id;
  if (due.kind == HealthKind::kReboot && !on.drained) {
    DrainForReboot(on, "", false, now, transition);
  }
  transition.events.emplace_back(
      HealthCheckOrdered{node, health.number + 1, due.kind, due.cause, now});
  transition.effects.emplace_back(CheckHealth{node});
}

// True when no more of the class may be taken away.
bool IsClassSpent(const HealthTable& table, NodeId node, const HealthPolicy& policy) {
  const std::size_t most =
      std::max<std::size_t>(1, table.ClassOf(node).size() * policy.drained_percent_max / 100);
  return table.DrainedInClassOf(node) >= most;
}

void Drain(const ClusterState& state, const Node& node, const std::string& why, Time now,
           const HealthPolicy& policy, Transition& transition) {
  if (policy.interval == Duration(0) || !policy.drain || node.drained ||
      IsClassSpent(state.health(), node.id, policy)) {
    return;
  }
  NoticeDrain(state, node.id, now, transition);
  transition.events.emplace_back(
      NodeDrained{node.id, true, absl::StrCat("health: ", why), now, /*by_health=*/true});
  transition.effects.emplace_back(Replan{});
}

// What follows from a check that measured.
void Decide(const ClusterState& state, const Node& node, const HealthRecord& record, Time now,
            const HealthPolicy& policy, Transition& transition) {
  const NodeHealth& health = state.health().Of(node.id);
  switch (record.status) {
    case HealthStatus::kFailed:
      Drain(state, node, core::TextOf(record.verdicts, HealthStatus::kFailed), now, policy,
            transition);
      return;
    case HealthStatus::kSuspect:
      if (health.slow + 1 >= policy.confirm) {
        Drain(state, node,
              absl::StrCat(core::TextOf(record.verdicts, HealthStatus::kSuspect), ", ",
                           health.slow + 1, " checks in a row"),
              now, policy, transition);
      }
      return;
    case HealthStatus::kGood:
    case HealthStatus::kUnjudged:
      if (health.drained && node.drained) {
        transition.events.emplace_back(NodeDrained{node.id, false, "", now, /*by_health=*/true});
        transition.effects.emplace_back(Replan{});
      }
  }
}

HealthRecord RecordOf(const NodeHealth& health, HealthReport report, Time now) {
  HealthRecord record;
  record.number = report.number;
  record.kind = health.kind;
  record.cause = health.cause;
  record.outcome = report.outcome;
  record.time = now;
  record.took = report.took;
  record.text = std::move(report.text);
  return record;
}

void JudgeAll(const HealthTable& table, NodeId node, std::vector<HealthFigure> figures,
              const HealthPolicy& policy, HealthRecord& record) {
  std::set<std::string> told;
  for (HealthFigure& figure : figures) {
    told.insert(figure.component);
    std::vector<std::uint64_t> pool = table.PoolOf(node, figure.component);
    record.verdicts.push_back(Judge(std::move(figure), std::move(pool), policy));
  }
  const HealthRecord& last = table.Of(node).last;
  for (const HealthVerdict& before : last.verdicts) {
    const bool compared = before.figure.sense == HealthSense::kHigher;
    if (compared && last.kind == record.kind && !told.contains(before.figure.component)) {
      record.verdicts.push_back(Missing(before));
    }
  }
  record.status = WorstOf(record.verdicts);
}

// A check that nobody will answer any more.
void GiveUp(const NodeHealth& health, NodeId node, const std::string& why, Time now,
            Transition& transition) {
  HealthReport report;
  report.number = health.number;
  report.outcome = HealthOutcome::kBroken;
  report.text = why;
  transition.events.emplace_back(
      HealthChecked{node, RecordOf(health, std::move(report), now), now});
}

// A node that fails jobs far more often than its class.
void DrainIfSick(const ClusterState& state, const Node& node, Time now, const HealthPolicy& policy,
                 Transition& transition) {
  const FailureTally& tally = state.health().TallyOf(node.id);
  if (tally.failures == 0 || node.drained) {
    return;
  }
  const std::uint32_t permille = state.health().SickPermilleOf(node.id, now);
  if (permille >= kSickPermille) {
    Drain(state, node,
          absl::StrCat("fails jobs: ", Thousandths(tally.failures / 1000), " node failures in ",
                       Thousandths(static_cast<std::uint64_t>(tally.exposure.count()) / 3600),
                       " job hours; more than three times its class's rate with probability ",
                       Thousandths(permille)),
          now, policy, transition);
  }
}

// Gives up checks that nobody answers, drains the sick and orders what is due.
void LookAtNodes(const ClusterState& state, Time now, const HealthPolicy& policy,
                 Transition& transition) {
  const HealthTable& table = state.health();
  if (policy.interval == Duration(0) && table.nodes().empty()) {
    return;
  }
  std::set<std::string> hosts;  // with a check under way
  for (const auto& [id, health] : table.nodes()) {
    if (health.running && now > health.ordered + LimitOf(health.kind)) {
      GiveUp(
          health, id,
          health.kind == HealthKind::kReboot ? "the node did not come back" : "it was not answered",
          now, transition);
    } else if (health.running) {
      hosts.insert(state.FindNode(id)->hostname);
    }
  }
  const std::size_t most =
      std::max<std::size_t>(1, state.nodes().size() * policy.at_once_percent / 100);
  for (const auto& [id, node] : state.nodes()) {
    if (policy.interval > Duration(0)) {
      DrainIfSick(state, node, now, policy, transition);
    }
    const NodeHealth& health = table.Of(id);
    const std::optional<Due> due = WhyDue(node, health, table.TallyOf(id), policy, now);
    if (due.has_value() && hosts.size() < most && !hosts.contains(node.hostname) &&
        WhyBusy(state, node).empty()) {
      Order(health, node, *due, now, transition);
      hosts.insert(node.hostname);
    }
  }
}

}  // namespace

Transition On(const ClusterState& state, const CheckNodeHealth& command, Time now,
              const SchedulerConfig&) {
  Transition transition;
  const Node* node = state.FindNode(command.name);
  if (node == nullptr) {
    transition.status = absl::NotFoundError(
        absl::StrCat("node ", command.name, ": no such node; see muster nodes"));
    return transition;
  }
  const NodeHealth& health = state.health().Of(node->id);
  transition.node = node->id;
  transition.count = static_cast<std::uint32_t>(health.number + (health.running ? 0 : 1));
  if (health.running) {
    return transition;  // its answer will be as good
  }
  const std::string busy = WhyBusy(state, *node);
  if (busy.empty()) {
    Order(health, *node, {command.kind, HealthCause::kAsked}, now, transition);
  } else if (command.wait) {
    transition.events.emplace_back(HealthCheckWanted{node->id, command.kind, now});
  } else {
    transition.status = absl::FailedPreconditionError(
        absl::StrCat("node ", command.name, ": ", busy, "; --wait checks it once it is idle"));
  }
  return transition;
}

Transition On(const ClusterState& state, const TakeHealthReport& command, Time now,
              const SchedulerConfig& config) {
  Transition transition;
  const Node* node = state.FindNode(command.node);
  if (node == nullptr) {
    transition.status = absl::NotFoundError("health report from a node that is not registered");
    return transition;
  }
  const NodeHealth& health = state.health().Of(node->id);
  if (!health.running || command.report.number != health.number) {
    return transition;  // it was told before, or nobody waits for it any more
  }
  HealthRecord record = RecordOf(health, command.report, now);
  if (record.outcome == HealthOutcome::kMeasured) {
    JudgeAll(state.health(), node->id, command.report.figures, config.health, record);
  }
  transition.events.emplace_back(HealthChecked{node->id, record, now});
  if (health.kind == HealthKind::kReboot && record.outcome == HealthOutcome::kBroken) {
    ResumeAfterReboot(state, *node, now, transition);
  }
  if (record.outcome == HealthOutcome::kMeasured) {
    Decide(state, *node, record, now, config.health, transition);
  }
  return transition;
}

Transition On(const ClusterState& state, const TickHealth&, Time now,
              const SchedulerConfig& config) {
  Transition transition;
  LookAtNodes(state, now, config.health, transition);
  if (transition.events.empty()) {
    KeepDrainTimes(state, now, config, transition);
  }
  if (transition.events.empty()) {  // a drain gives its own advice
    MakeWayForMaintenance(state, now, config, transition);
  }
  if (transition.events.empty()) {
    AdviseAgain(state, now, transition);
  }
  if (transition.events.empty()) {
    GiveWriteSlots(state, now, config, transition);
  }
  return transition;
}

std::string HealthWord(const NodeHealth& health) {
  if (health.running) {
    return health.kind == HealthKind::kReboot ? "rebooting" : "checking";
  }
  if (health.wanted && health.wanted_kind == HealthKind::kReboot) {
    return "to be rebooted";
  }
  if (health.last.number == 0) {
    return "";
  }
  switch (health.last.status) {
    case HealthStatus::kUnjudged:
      return "not judged yet";
    case HealthStatus::kGood:
      return "good";
    case HealthStatus::kSuspect:
      return absl::StrCat("slow: ", NamesOf(health.last.verdicts, HealthStatus::kSuspect));
    case HealthStatus::kFailed:
      return absl::StrCat("failed: ", NamesOf(health.last.verdicts, HealthStatus::kFailed));
  }
  return "";
}

}  // namespace muster::core
