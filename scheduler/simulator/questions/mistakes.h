#pragma once

// What a controller would make of commands that are wrong in one place: spoilt copies of those that
// a life gives it.
//
// Thread promise: none; one thread. Invariants: the life goes on as it would without; the same
// sequence makes the same mistakes.

#include <cstdint>
#include <optional>
#include <string>

#include "scheduler/core/state/cluster_state.h"
#include "scheduler/model/change/command.h"
#include "scheduler/model/settings/scheduler_config.h"
#include "scheduler/model/value/time.h"
#include "scheduler/simulator/random_sequence.h"

namespace muster::sim {

class Mistakes {
 public:
  explicit Mistakes(std::uint64_t seed) : random_(seed) {}

  // Judges some. Broken: a refused one makes events or effects, or one that is taken breaks an
  // invariant of the state.
  std::optional<std::string> Look(const core::ClusterState& state, const Command& command, Time now,
                                  const SchedulerConfig& config);

 private:
  RandomSequence random_;
};

}  // namespace muster::sim
