// What the loop does about the health of nodes, and what it keeps for their kernels.
#include <memory>
#include <utility>

#include "daemon/controller/controller.h"

namespace muster::daemon {

void Controller::GatherHealth() {
  const core::HealthTable& table = state_.health();
  for (const NodeId id : group_.health) {
    if (const auto found = table.nodes().find(id); found != table.nodes().end()) {
      group_.batch.health.push_back(found->second);
    }
  }
  for (const NodeId id : group_.tallies) {
    if (const auto found = table.tallies().find(id); found != table.tallies().end()) {
      group_.batch.tallies.push_back(found->second);
    }
  }
}

void Controller::LookAtHealth() {
  if (!Degraded().ok()) {
    return;
  }
  for (const Command& command : {Command(TickHealth{}), Command(TickElastic{})}) {
    const core::Transition transition = core::Handle(state_, command, clock_.Now(), *policy_);
    Apply(transition.events);
    Dispatch(transition.effects);
  }
}

void Controller::Keep(std::function<void(Batch& batch, Time now)> add, const Reply& kept) {
  const bool queued = queue_.Push([this, add = std::move(add), kept] {
    if (const absl::Status refused = Degraded(); !refused.ok()) {
      group_.after.emplace_back([kept, refused](const absl::Status&) { kept(refused); });
      return;
    }
    add(group_.batch, clock_.Now());
    group_.after.emplace_back(kept);
  });
  if (!queued) {
    Refuse(kept);
  }
}

}  // namespace muster::daemon
