#include "scheduler/core/handle/nodes/power_handlers.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "scheduler/base/text/duration_text.h"
#include "scheduler/core/handle/nodes/reboot_handlers.h"
#include "scheduler/core/power/power_classes.h"
#include "scheduler/core/power/power_policy.h"
#include "scheduler/model/machine/node.h"

namespace muster::core {
namespace {

// A node that is off counts as connected for so long at most: until its silence has been noticed.
constexpr Duration kSilenceMost = 3 * kAgentLease / 2;

// What the orders of one command share.
class Orders {
 public:
  Orders(const ClusterState& state, const SchedulerConfig& config)
      : state_(state), classes_(config.power) {}

  [[nodiscard]] const PowerClass* ClassOf(const Node& node) const { return classes_.Of(node.name); }

  // How long a boot takes: from what the nodes of the class needed, the configured time while that
  // says nothing.
  Duration BootOf(const PowerClass& kind) {
    const auto [known, is_new] = boots_.emplace(&kind, Duration(0));
    if (is_new) {
      std::vector<Duration> measured;
      for (const auto& [id, power] : state_.power().nodes()) {
        if (classes_.Of(state_.FindNode(id)->name) == &kind) {
          measured.insert(measured.end(), power.boots.begin(), power.boots.end());
        }
      }
      known->second = LearnedBootTime(std::move(measured), kind.boot_time);
    }
    return known->second;
  }

 private:
  const ClusterState& state_;
  const PowerClasses classes_;
  std::map<const PowerClass*, Duration> boots_;
};

bool MaySwitchOff(const ClusterState& state, const Node& node) {
  const NodeHealth& health = state.health().Of(node.id);
  return state.power().IsOn(node.id) && WhyBusy(state, node).empty() && !node.drained &&
         !health.running && !health.wanted;
}

void GiveUp(const Node& node, const NodePower& power, const std::string& why, Time now,
            Transition& transition) {
  transition.events.emplace_back(
      NodePowered{node.id, PowerState::kFailed, now, kNoTime, power.boot, Duration(0)});
  if (!node.drained) {
    transition.events.emplace_back(NodeDrained{node.id, true, why, now});
  }
  transition.effects.emplace_back(Replan{});
}

// What time makes of the orders of before, and a configuration that no longer names their nodes.
void KeepTimes(const ClusterState& state, const Orders& orders, Time now, Transition& transition) {
  for (const auto& [id, power] : state.power().nodes()) {
    const Node& node = *state.FindNode(id);
    const Time off_by = power.until + (node.connected ? kSilenceMost : Duration(0));
    if (power.state == PowerState::kPoweringDown && off_by <= now) {
      const PowerState to = node.connected ? PowerState::kOn : PowerState::kOff;
      transition.events.emplace_back(NodePowered{id, to, now, kNoTime, power.boot, Duration(0)});
      transition.effects.emplace_back(Replan{});
    } else if (power.state == PowerState::kPoweringUp && power.until <= now) {
      GiveUp(node, power,
             absl::StrCat("did not boot within ", SecondsText(power.until - power.since)), now,
             transition);
    } else if (power.state == PowerState::kOff && orders.ClassOf(node) == nullptr) {
      GiveUp(node, power, "is switched off, and in no table of [power] any more", now, transition);
    }
  }
}

}  // namespace

Transition On(const ClusterState& state, const SwitchNodes& command, Time now,
              const SchedulerConfig& config) {
  Transition transition;
  Orders orders(state, config);
  KeepTimes(state, orders, now, transition);
  for (const NodeId id : command.suspend) {
    const Node* const node = state.FindNode(id);
    const PowerClass* const kind = node == nullptr ? nullptr : orders.ClassOf(*node);
    if (kind != nullptr && MaySwitchOff(state, *node)) {
      transition.events.emplace_back(NodePowered{id, PowerState::kPoweringDown, now,
                                                 now + kind->suspend_time, orders.BootOf(*kind),
                                                 Duration(0)});
      transition.effects.emplace_back(SwitchPower{id, false});
      transition.effects.emplace_back(Replan{});
    }
  }
  for (const NodeId id : command.resume) {
    const Node* const node = state.FindNode(id);
    const PowerClass* const kind = node == nullptr ? nullptr : orders.ClassOf(*node);
    if (kind != nullptr && state.power().Of(id).state == PowerState::kOff) {
      transition.events.emplace_back(NodePowered{id, PowerState::kPoweringUp, now,
                                                 now + kind->resume_timeout, orders.BootOf(*kind),
                                                 Duration(0)});
      transition.effects.emplace_back(SwitchPower{id, true});
    }
  }
  return transition;
}

void NoticePower(const ClusterState& state, const Node& node, const std::string& boot_id, Time now,
                 Transition& transition) {
  const NodePower& power = state.power().Of(node.id);
  const bool goes_down = power.state == PowerState::kPoweringDown && node.boot_id == boot_id;
  if (power.state == PowerState::kOn || goes_down) {
    return;
  }
  const Duration took = power.state == PowerState::kPoweringUp
                            ? std::max(now - power.since, Duration(1))
                            : Duration(0);
  transition.events.emplace_back(
      NodePowered{node.id, PowerState::kOn, now, kNoTime, power.boot, took});
}

void TryPowerAgain(const ClusterState& state, const Node& node, Time now, Transition& transition) {
  const NodePower& power = state.power().Of(node.id);
  if (power.state == PowerState::kFailed) {
    transition.events.emplace_back(
        NodePowered{node.id, PowerState::kOff, now, kNoTime, power.boot, Duration(0)});
  }
}

}  // namespace muster::core
