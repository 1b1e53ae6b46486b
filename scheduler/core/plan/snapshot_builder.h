#pragma once

// From the state to the snapshot that a cycle looks at.
//
// Called on the controller's thread; what it returns is handed to the planner's. Thread promise:
// BuildSnapshot is pure; a SnapshotBuilder belongs to one thread. Invariants: the same state and
// the same `now` make the same snapshot, in queue order, by either.

#include <memory>
#include <vector>

#include "scheduler/core/plan/touched_jobs.h"
#include "scheduler/core/state/cluster_state.h"
#include "scheduler/model/plan/plan.h"
#include "scheduler/model/plan/snapshot.h"

namespace muster::core {

// `last` is the plan of the cycle before, if there was one: its reservations are kept to. `network`
// is the configured one, if any.
std::shared_ptr<const Snapshot> BuildSnapshot(const ClusterState& state, Time now,
                                              const Plan* last = nullptr,
                                              std::shared_ptr<const Network> network = nullptr);

// The same for a caller that asks again and again: a snapshot that no code holds any more is
// updated in place, by the nodes that were touched since. It keeps two, for while one is planned on
// the planner's memory holds the one before.
class SnapshotBuilder {
 public:
  std::shared_ptr<const Snapshot> Build(const ClusterState& state, Time now, const Plan* last,
                                        std::shared_ptr<const Network> network);
  // The state was brought to `version` by the event. Whoever tells of all of them has the waiting
  // jobs updated in place, too.
  void Note(const Event& event, Version version) { touched_.Note(event, version); }
  // As if newly made. To be called when the state is replaced by another.
  void Forget() {
    kept_.clear();
    touched_ = TouchedJobs();
  }
  // Which jobs the newest events changed.
  [[nodiscard]] const TouchedJobs& touched() const { return touched_; }

 private:
  struct Kept {
    std::shared_ptr<Snapshot> snapshot;
    bool lasts = true;  // its nodes do not go with time: all jobs on them hold their cores
  };
  std::vector<Kept> kept_;  // the older first
  TouchedJobs touched_;
};

}  // namespace muster::core
