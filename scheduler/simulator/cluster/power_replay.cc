#include "scheduler/simulator/cluster/power_replay.h"

#include <algorithm>
#include <chrono>
#include <set>

#include "scheduler/core/power/power_policy.h"

namespace muster::sim {
namespace {

std::int64_t SecondsIn(Duration duration) {
  return std::chrono::ceil<std::chrono::seconds>(duration).count();
}

}  // namespace

// One that is in no class is never switched off, and what it takes is not known.
void PowerReplay::AddNode(NodeId id, const std::string& name, std::int64_t threads,
                          std::int64_t now) {
  if (!on_) {
    return;
  }
  const PowerClass* const kind = classes_.Of(name);
  const PowerClass alike = kind == nullptr ? PowerClass() : *kind;
  Node node;
  node.boot = SecondsIn(alike.boot_time);
  node.suspend = SecondsIn(alike.suspend_time);
  numbers_[id] = nodes_.size();
  nodes_.push_back(node);
  energy_.AddNode(alike, threads, now);
}

void PowerReplay::SetUse(std::size_t node, std::int64_t used, std::int64_t now) {
  if (on_) {
    energy_.SetUse(node, used, now);
  }
}

std::optional<SwitchNodes> PowerReplay::Look(const core::ClusterState& state, const Plan* last,
                                             const SchedulerConfig& config, Time time,
                                             std::int64_t now) {
  if (!on_) {
    return std::nullopt;
  }
  NoteWanted(state, last, time, now);
  return watch_.Look(state, last, config, time);
}

// Of nodes that are shutting down, or off: some job would start on them, were they on.
void PowerReplay::NoteWanted(const core::ClusterState& state, const Plan* last, Time time,
                             std::int64_t now) {
  const auto is_away = [](const NodePower& power) {
    return power.state == PowerState::kPoweringDown || power.state == PowerState::kOff;
  };
  std::set<NodeId> wanted;
  for (const PlannedReservation& reservation :
       last == nullptr ? std::vector<PlannedReservation>() : last->reservations) {
    for (const ReservedNode& part : reservation.nodes) {
      const NodePower& power = state.power().Of(part.node);
      if (is_away(power) && reservation.start <= core::AvailableFrom(power, time)) {
        wanted.insert(part.node);
      }
    }
  }
  for (const auto& [id, number] : numbers_) {
    if (is_away(state.power().Of(id))) {
      nodes_[number].wanted = wanted.contains(id) ? std::min(nodes_[number].wanted, now) : kNever;
    }
  }
}

void PowerReplay::Begin(const SwitchPower& order, std::int64_t now) {
  const std::size_t number = numbers_.at(order.node);
  Node& node = nodes_[number];
  node.wanted = order.on ? std::min(node.wanted, now) : kNever;
  energy_.SetPower(number, order.on ? PowerState::kPoweringUp : PowerState::kPoweringDown, now);
  switches_.emplace(now + (order.on ? node.boot : node.suspend), number, order.on);
}

std::optional<PowerReplay::Done> PowerReplay::NextDone(std::int64_t now) {
  if (Next() > now) {
    return std::nullopt;
  }
  const auto [time, number, on] = switches_.top();
  switches_.pop();
  energy_.SetPower(number, on ? PowerState::kOn : PowerState::kOff, now);
  nodes_[number].booted = on ? now : kNever;
  return Done{number, on};
}

void PowerReplay::NoteStart(std::int64_t submitted, const std::vector<std::size_t>& nodes) {
  std::int64_t wait = 0;
  for (const std::size_t number : on_ ? nodes : std::vector<std::size_t>()) {
    Node& node = nodes_[number];
    if (node.booted != kNever) {
      wait = std::max(wait, node.booted - std::max(submitted, node.wanted));
    }
    node.booted = kNever;
  }
  if (wait > 0) {
    energy_.NoteBootWait(wait);
  }
}

NodeEnergy PowerReplay::Energy(std::int64_t now) const {
  NodeEnergy energy = energy_;
  energy.Close(now);
  return energy;
}

}  // namespace muster::sim
