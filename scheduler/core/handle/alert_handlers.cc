#include "scheduler/core/handle/alert_handlers.h"

#include <set>
#include <utility>

namespace muster::core {

Transition On(const ClusterState& state, const SettleAlerts& command, Time now,
              const SchedulerConfig&) {
  Transition transition;
  std::set<AlertTable::Name> lasting;
  for (const Alert& alert : command.open) {
    AlertTable::Name name{alert.rule, alert.subject};
    const bool is_new = lasting.insert(name).second && !state.alerts().all().contains(name);
    if (is_new) {
      transition.events.emplace_back(AlertBegan{alert, now});
    }
  }
  for (const auto& [name, alert] : state.alerts().all()) {
    if (!lasting.contains(name)) {
      transition.events.emplace_back(AlertEnded{alert, now});
    }
  }
  return transition;
}

}  // namespace muster::core
