#pragma once

// What the controller's loop has to do with the nodes' power: when to order, and how the orders are
// carried out.
//
// Thread promise: owned by the loop; what CallsFor returns may be called on any thread while this
// lives. Invariants: a program is called only for orders whose events are durable.

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "daemon/power/power_programs.h"
#include "scheduler/core/handle/nodes/power_watch.h"
#include "scheduler/core/state/cluster_state.h"
#include "scheduler/model/change/command.h"
#include "scheduler/model/change/effect.h"
#include "scheduler/model/plan/plan.h"
#include "scheduler/model/settings/scheduler_config.h"

namespace muster::daemon {

class PowerSwitch {
 public:
  // `directory`: for files of programs under way.
  PowerSwitch(std::string directory, const Logger& log) : programs_(std::move(directory), log) {}

  // As of PowerWatch.
  void Want(std::vector<NodeId> nodes) { watch_.Want(std::move(nodes)); }
  // What is to be taken now; nothing when there is nothing to do.
  std::optional<SwitchNodes> Look(const core::ClusterState& state, const Plan* plan,
                                  const SchedulerConfig& config, Time now) {
    return watch_.Look(state, plan, config, now);
  }
  // What calls the programs that the effects ask for, once it is told that their events are
  // durable.
  using Call = std::function<void(const absl::Status& durable)>;
  std::vector<Call> CallsFor(const core::ClusterState& state, const std::vector<Effect>& effects,
                             const Plan* plan, const SchedulerConfig& config);

 private:
  core::PowerWatch watch_;
  PowerPrograms programs_;
};

}  // namespace muster::daemon
