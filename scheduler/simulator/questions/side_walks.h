#pragma once

// Short walks away from a life: a few commands in a row, aimed at what is there, on a copy of its
// state, with cycles between them and other settings at times.
//
// Thread promise: pure but for the sequence. Invariant: the same sequence, state and moment make
// the same walk; the life goes on as it would without.

#include <optional>
#include <string>

#include "scheduler/core/state/cluster_state.h"
#include "scheduler/model/settings/scheduler_config.h"
#include "scheduler/model/value/time.h"
#include "scheduler/simulator/random_sequence.h"

namespace muster::sim {

// What went wrong on the way: a refused command makes events or effects, an invariant of the state
// is broken, a plan made with what earlier cycles left is another than one made from nothing, or an
// answer is wrong.
std::optional<std::string> WrongWalk(core::ClusterState state, Time now, SchedulerConfig config,
                                     RandomSequence& random);
// The same from a cluster without rules that has just begun: of a few nodes, or of many.
std::optional<std::string> WrongWalkOfANewCluster(Time now, SchedulerConfig config,
                                                  RandomSequence& random);

}  // namespace muster::sim
