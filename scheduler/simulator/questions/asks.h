#pragma once

// What users ask of a controller that lives: why jobs wait, what would help them, what placements
// are worth, how nodes and shares are.
//
// Thread promise: none; one thread. Invariant: it looks, and changes nothing; a life goes on as it
// would without.

#include <cstdint>
#include <optional>
#include <string>

#include "scheduler/core/explain/promise_table.h"
#include "scheduler/core/state/cluster_state.h"
#include "scheduler/model/change/event.h"
#include "scheduler/model/plan/plan.h"
#include "scheduler/model/plan/snapshot.h"
#include "scheduler/model/settings/scheduler_config.h"
#include "scheduler/simulator/random_sequence.h"

namespace muster::sim {

class Asks {
 public:
  explicit Asks(std::uint64_t seed) : random_(seed) {}

  void Note(const Event& event) { promises_.Apply(event); }
  // What is wrong with an answer; each look asks some of the questions. REQUIRES: the plan is of
  // the snapshot, which is of the state.
  std::optional<std::string> Look(const core::ClusterState& state, const Snapshot& snapshot,
                                  const Plan& plan, const SchedulerConfig& config);

 private:
  // About one job of those that wait, that run, or that there never were.
  std::optional<std::string> AskOfJob(const core::ClusterState& state, const Snapshot& snapshot,
                                      const Plan& plan, const SchedulerConfig& config);
  std::optional<std::string> AskOfNodes(const core::ClusterState& state, const Snapshot& snapshot,
                                        const SchedulerConfig& config);

  RandomSequence random_;
  core::PromiseTable promises_;
};

}  // namespace muster::sim
