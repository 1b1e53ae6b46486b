#include "daemon/power/power_calls.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "scheduler/core/power/power_classes.h"

namespace muster::daemon {
namespace {

// The jobs with a place on one of the nodes.
std::vector<ResumedFor> JobsFor(const core::ClusterState& state, const Plan* plan,
                                const std::set<std::string>& nodes) {
  std::vector<ResumedFor> jobs;
  if (plan == nullptr) {
    return jobs;
  }
  for (const PlannedReservation& place : plan->reservations) {
    const Job* const job = state.FindJob(place.job);
    if (job == nullptr) {
      continue;
    }
    ResumedFor waiting{place.job, job->spec->partition, {}};
    waiting.features = ToText(job->spec->request.constraint);
    waiting.reservation = job->spec->reservation;
    waiting.shares = !job->spec->request.exclusive;
    for (const ReservedNode& part : place.nodes) {
      if (const Node* const node = state.FindNode(part.node)) {
        waiting.nodes.push_back(node->name);
      }
    }
    if (std::any_of(waiting.nodes.begin(), waiting.nodes.end(),
                    [&nodes](const std::string& node) { return nodes.contains(node); })) {
      jobs.push_back(std::move(waiting));
    }
  }
  return jobs;
}

}  // namespace

std::vector<PowerCall> PowerCallsOf(const core::ClusterState& state,
                                    const std::vector<Effect>& effects, const Plan* plan,
                                    const SchedulerConfig& config) {
  if (std::none_of(effects.begin(), effects.end(), [](const Effect& effect) {
        return std::holds_alternative<SwitchPower>(effect);
      })) {
    return {};
  }
  const core::PowerClasses classes(config.power);
  std::map<std::pair<std::size_t, bool>, std::set<std::string>> names;  // by class, and on
  for (const Effect& effect : effects) {
    const auto* const power = std::get_if<SwitchPower>(&effect);
    const Node* const node = power == nullptr ? nullptr : state.FindNode(power->node);
    const PowerClass* const kind = node == nullptr ? nullptr : classes.Of(node->name);
    if (kind != nullptr) {
      const auto at = static_cast<std::size_t>(kind - config.power.data());
      names[{at, power->on}].insert(node->name);
    }
  }
  std::vector<PowerCall> calls;
  for (const auto& [which, nodes] : names) {
    const PowerClass& kind = config.power[which.first];
    PowerCall call;
    call.on = which.second;
    call.program = call.on ? kind.resume : kind.suspend;
    call.user = kind.user;
    call.nodes.assign(nodes.begin(), nodes.end());
    call.jobs = call.on ? JobsFor(state, plan, nodes) : std::vector<ResumedFor>();
    call.limit = call.on ? kind.resume_timeout : kind.suspend_time;
    calls.push_back(std::move(call));
  }
  return calls;
}

}  // namespace muster::daemon
