// What the loop does about the health of nodes.
#include "daemon/controller.h"

namespace muster {

void Controller::GatherHealth() {
  const HealthBook& book = state_.health();
  for (const NodeId id : group_.health) {
    if (const auto found = book.nodes().find(id); found != book.nodes().end()) {
      group_.batch.health.push_back(found->second);
    }
  }
  for (const NodeId id : group_.tallies) {
    if (const auto found = book.tallies().find(id); found != book.tallies().end()) {
      group_.batch.tallies.push_back(found->second);
    }
  }
}

void Controller::LookAtHealth() {
  if (!Degraded().ok()) {
    return;
  }
  const Turn turn = Step(state_, TickHealth{}, clock_.Now(), *policy_);
  Apply(turn.events);
  Dispatch(turn.effects);
}

}  // namespace muster
