#include "scheduler/core/handle/nodes/power_watch.h"

#include <algorithm>
#include <utility>

#include "scheduler/core/handle/nodes/reboot_handlers.h"
#include "scheduler/core/power/power_classes.h"
#include "scheduler/model/policy/policy_snapshot.h"
#include "scheduler/model/policy/reservation.h"

namespace muster::core {
namespace {

// A job is there, or something else that needs the node as it is.
bool IsBusy(const ClusterState& state, const Node& node) {
  const NodeHealth& health = state.health().Of(node.id);
  return !WhyBusy(state, node).empty() || health.running || health.wanted;
}

using Needs = std::map<NodeId, Time>;

void NeedFrom(NodeId node, Time from, Needs& needs) {
  const auto [found, is_new] = needs.emplace(node, from);
  if (!is_new) {
    found->second = std::min(found->second, from);
  }
}

// When reservations of the site begin, or began.
void AddReserved(const ClusterState& state, Time now, Needs& needs) {
  const PolicySnapshot& policy = state.policy().snapshot();
  for (const auto& [name, reservation] : policy.site->reservations) {
    const std::optional<Window> window = WindowAt(reservation, now);
    const NodeGroup& group = policy.nodes->reservations.at(name);
    for (const auto& [id, node] : state.nodes()) {
      if (window.has_value() && group.Has(id)) {
        NeedFrom(id, window->start, needs);
      }
    }
  }
}

// When waiting jobs begin in the places that the plan has for them.
void AddPlaces(const ClusterState& state, const Plan& plan, Needs& needs) {
  for (const PlannedReservation& reservation : plan.reservations) {
    const Job* const job = state.FindJob(reservation.job);
    if (job == nullptr || !IsWaiting(job->state)) {
      continue;
    }
    for (const ReservedNode& part : reservation.nodes) {
      NeedFrom(part.node, reservation.start, needs);
    }
  }
}

}  // namespace

void PowerWatch::Sort(const ClusterState& state, const SchedulerConfig& config, Time now) {
  if (classes_ == config.power && next_node_ == state.node_table().next() &&
      node_count_ == state.nodes().size()) {
    return;
  }
  classes_ = config.power;
  next_node_ = state.node_table().next();
  node_count_ = state.nodes().size();
  const std::map<NodeId, Watched> before = std::exchange(nodes_, {});
  const PowerClasses index(classes_);
  for (const auto& [id, node] : state.nodes()) {
    if (const PowerClass* const kind = index.Of(node.name)) {
      const auto known = before.find(id);
      nodes_[id] =
          Watched{static_cast<std::size_t>(kind - classes_.data()), index.IsExcepted(node.name),
                  known == before.end() ? now : known->second.idle_since};
    }
  }
}

// Whatever happened on a node since the last look ends its rest.
void PowerWatch::NoteTouched(const ClusterState& state, Time now) {
  std::vector<NodeId> touched;
  const bool known = state.touched().AppendSince(seen_, touched);
  seen_ = state.version();
  if (!known) {
    for (auto& [id, watched] : nodes_) {
      watched.idle_since = now;
    }
  }
  for (const NodeId id : touched) {
    if (const auto found = nodes_.find(id); found != nodes_.end()) {
      found->second.idle_since = now;
    }
  }
}

void PowerWatch::WakeAt(Time when, Time now) {
  if (when > now && (wake_ == kNoTime || when < wake_)) {
    wake_ = when;
  }
}

PowerCandidate PowerWatch::CandidateOf(const ClusterState& state, const Node& node,
                                       const Watched& watched) const {
  const NodePower& power = state.power().Of(node.id);
  PowerCandidate candidate;
  candidate.node = node.id;
  candidate.kind = watched.kind;
  candidate.state = power.state;
  candidate.since = power.since;
  candidate.boot = power.boot > Duration(0) ? power.boot : classes_[watched.kind].boot_time;
  candidate.busy = IsBusy(state, node);
  candidate.idle_since = watched.idle_since;
  candidate.excepted = node.drained || watched.excepted;
  return candidate;
}

// Whether an order of before has had its time, or is for a node that is in no class any more.
bool PowerWatch::IsDue(const ClusterState& state, Time now) {
  bool is_due = false;
  for (const NodeId id : state.power().away()) {
    const NodePower& power = state.power().Of(id);
    if (power.until != kNoTime) {
      is_due = is_due || power.until <= now;
      WakeAt(power.until, now);
    }
    is_due = is_due || (power.state == PowerState::kOff && !nodes_.contains(id));
  }
  return is_due;
}

std::optional<SwitchNodes> PowerWatch::Look(const ClusterState& state, const Plan* last,
                                            const SchedulerConfig& config, Time now) {
  wake_ = kNoTime;
  if (config.power.empty() && state.power().nodes().empty()) {
    return std::nullopt;
  }
  Sort(state, config, now);
  NoteTouched(state, now);
  Needs needs;
  AddReserved(state, now, needs);
  if (last != nullptr && WaitingJobs(state) > 0) {
    AddPlaces(state, *last, needs);
    for (const NodeId node : wanted_) {
      NeedFrom(node, now, needs);
    }
  }
  std::vector<PowerCandidate> candidates;
  for (const auto& [id, watched] : nodes_) {
    const Node& node = *state.FindNode(id);
    PowerCandidate candidate = CandidateOf(state, node, watched);
    const auto need = node.drained ? needs.end() : needs.find(id);
    candidate.needed = need == needs.end() ? kNoTime : need->second;
    candidates.push_back(candidate);
  }
  const bool is_due = IsDue(state, now);
  PowerOrders orders = DecidePower(candidates, classes_, now);
  if (orders.wake != kNoTime) {
    WakeAt(orders.wake, now);
  }
  if (orders.suspend.empty() && orders.resume.empty() && !is_due) {
    return std::nullopt;
  }
  return SwitchNodes{std::move(orders.suspend), std::move(orders.resume)};
}

}  // namespace muster::core
