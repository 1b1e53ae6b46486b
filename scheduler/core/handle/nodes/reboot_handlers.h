#pragma once

// Nodes that are started again: when the order is given, and what follows once they are back.
//
// A reboot is counted among the checks of the node's health: like a check it waits until no job is
// on the node, is ordered once, and is given up when nothing comes of it. Invariants: (1) nothing
// starts on a node from the order on until it has another boot id; (2) a node that a reboot
// drained, and no other, is resumed when it is back, or when the order failed.

#include <string>

#include "scheduler/core/state/cluster_state.h"
#include "scheduler/core/state/transition.h"
#include "scheduler/model/change/command.h"
#include "scheduler/model/settings/scheduler_config.h"

namespace muster::core {

Transition On(const ClusterState& state, const RebootNode& command, Time now,
              const SchedulerConfig& config);

// What is in the way of a check or a reboot, which need the node for themselves; empty: nothing.
std::string WhyBusy(const ClusterState& state, const Node& node);

// `keep`: also once it is back.
void DrainForReboot(const Node& node, const std::string& reason, bool keep, Time now,
                    Transition& transition);
void ResumeAfterReboot(const ClusterState& state, const Node& node, Time now,
                       Transition& transition);
// The node registers with this boot id: a reboot that was ordered under another one is done.
void NoticeReboot(const ClusterState& state, const Node& node, const std::string& boot_id, Time now,
                  Transition& transition);

}  // namespace muster::core
