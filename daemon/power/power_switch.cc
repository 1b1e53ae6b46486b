#include "daemon/power/power_switch.h"

#include <memory>
#include <utility>

#include "daemon/power/power_calls.h"

namespace muster::daemon {

std::vector<PowerSwitch::Call> PowerSwitch::CallsFor(const core::ClusterState& state,
                                                     const std::vector<Effect>& effects,
                                                     const Plan* plan,
                                                     const SchedulerConfig& config) {
  std::vector<Call> calls;
  for (PowerCall& call : PowerCallsOf(state, effects, plan, config)) {
    auto shared = std::make_shared<PowerCall>(std::move(call));
    calls.emplace_back([this, shared](const absl::Status& durable) {
      if (durable.ok()) {
        programs_.Call(std::move(*shared));
      }
    });
  }
  return calls;
}

}  // namespace muster::daemon
