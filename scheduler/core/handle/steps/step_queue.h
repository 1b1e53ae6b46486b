#pragma once

// The steps of a job that wait for one another's CPUs, GPUs and memory.
//
// They start in the order in which they came: one after another that waits does not overtake it, so
// each starts when enough of those before it have ended. Invariants: (1) the events apply in order
// to the attempt that was given; (2) after it no step waits that comes first and fits.

#include "scheduler/core/state/cluster_state.h"
#include "scheduler/core/state/transition.h"
#include "scheduler/model/change/command.h"

namespace muster::core {

// The name that was asked for, else the command's.
std::string StepName(const StepSpec& spec, const Program& program);

// The step's start, placed there, and the orders to its nodes. `event` has all but these.
void BeginStep(StepStarted event, const StepSpec& spec, Allocation placement,
               Transition& transition);

// Starts the first of those that wait while it fits; drops it when it never can. `job` is as the
// transition's events so far leave it, and has an attempt; so it does afterwards.
void StartQueuedSteps(const ClusterState& state, Job& job, Time now, Transition& transition);

}  // namespace muster::core
