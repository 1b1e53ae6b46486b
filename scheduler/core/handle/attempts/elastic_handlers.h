#pragma once

// Handlers that change the size of running elastic jobs: growth as a plan has it, and the loss of a
// node.
//
// A membership is an attempt: another number of nodes is another attempt, which takes its turn
// before all that wait (JobRequeued::resized). A node is declared lost kElasticSilence after its
// stream broke, and kElasticFence after its last sign of life at the latest; the attempt's parts on
// the others are ordered to end. Its own part ends by itself (model/settings/elastic_policy.h), so
// kElasticFence after that sign it counts as ended, no sooner, and nothing of two attempts ever
// runs at once. Where fewer nodes are left than the job needs, and no others are free, the attempt
// keeps what it has for as long as --replace-wait says.

#include "scheduler/core/state/cluster_state.h"
#include "scheduler/core/state/transition.h"
#include "scheduler/model/change/command.h"
#include "scheduler/model/plan/plan.h"
#include "scheduler/model/settings/scheduler_config.h"

namespace muster::core {

// An agent that starts again is back within this time.
inline constexpr Duration kElasticSilence = std::chrono::seconds(10);

Transition On(const ClusterState& state, const TickElastic& command, Time now,
              const SchedulerConfig& config);

// Tells the attempt to end so that its job goes on with as many nodes as planned. False when the
// job is not as it was planned.
bool Resize(const ClusterState& state, const PlannedResize& resize, Time now,
            Transition& transition);

}  // namespace muster::core
