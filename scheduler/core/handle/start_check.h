#pragma once

// A plan's starts and drops against the state as it is by now, but for nodes: core/handle/verify's
// counterpart for what core/plan/search/eligibility looks at.
//
// Thread promise: owned by one thread, for one plan. Invariants: the starts that one gate admits
// hold together on the state that it was made for.

#include <set>
#include <span>

#include "scheduler/core/state/cluster_state.h"
#include "scheduler/core/state/tables/licenses.h"
#include "scheduler/model/plan/plan.h"
#include "scheduler/model/settings/scheduler_config.h"

namespace muster::core {

class StartGate {
 public:
  // REQUIRES: state and config outlive it and do not change meanwhile.
  StartGate(const ClusterState& state, const SchedulerConfig& config, Time now)
      : state_(state), config_(config), now_(now), licenses_(state.licenses().Uses()) {}

  // True when nothing but nodes can keep the job from starting.
  [[nodiscard]] bool Admits(JobId job) const;
  // The same of jobs that start together.
  [[nodiscard]] bool Admits(std::span<const PlannedStart> starts) const;
  // Counts a start against what follows. REQUIRES: Admits(job).
  void Count(JobId job);
  // True when the job still has to end without having started.
  [[nodiscard]] bool MustDrop(const PlannedDrop& drop) const;

 private:
  const ClusterState& state_;
  const SchedulerConfig& config_;
  const Time now_;
  LicenseCounts licenses_;
  std::set<JobId> alone_;  // submissions with kSingleton of which one starts
};

}  // namespace muster::core
