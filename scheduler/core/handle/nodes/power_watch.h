#pragma once

// What the nodes' power should be, seen from the state and the last plan.
//
// The loop around the scheduler has one, asks it after each cycle and whenever `wake` comes, and
// takes what it answers as a command. It remembers since when nothing has happened on each node,
// which is no part of the state: a controller that starts counts from then on. Thread promise:
// none; owned by the loop. Invariants: the same calls give the same answers; without classes it
// answers nothing and costs nothing.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "scheduler/core/power/power_policy.h"
#include "scheduler/core/state/cluster_state.h"
#include "scheduler/model/change/command.h"
#include "scheduler/model/plan/plan.h"
#include "scheduler/model/settings/scheduler_config.h"
#include "scheduler/model/value/ids.h"
#include "scheduler/model/value/time.h"

namespace muster::core {

class PowerWatch {
 public:
  // The newest cycle says that jobs without a place in its plan would start on these nodes, were
  // they on (plan/power_demand). Those that are on stay on for them.
  void Want(std::vector<NodeId> nodes) { wanted_ = std::move(nodes); }
  // What is to be taken now; nothing when there is nothing to do. `last`: null before any cycle.
  std::optional<SwitchNodes> Look(const ClusterState& state, const Plan* last,
                                  const SchedulerConfig& config, Time now);
  // When it is to be asked again at the latest; kNoTime: not because of time.
  [[nodiscard]] Time wake() const { return wake_; }

 private:
  struct Watched {
    std::size_t kind = 0;
    bool excepted = false;
    Time idle_since = kNoTime;
  };
  void Sort(const ClusterState& state, const SchedulerConfig& config, Time now);
  void NoteTouched(const ClusterState& state, Time now);
  [[nodiscard]] PowerCandidate CandidateOf(const ClusterState& state, const Node& node,
                                           const Watched& watched) const;
  bool IsDue(const ClusterState& state, Time now);
  void WakeAt(Time when, Time now);

  std::vector<PowerClass> classes_;  // that `nodes_` is sorted by
  NodeId next_node_;
  std::size_t node_count_ = 0;
  Version seen_;
  std::map<NodeId, Watched> nodes_;
  std::vector<NodeId> wanted_;
  Time wake_ = kNoTime;
};

}  // namespace muster::core
