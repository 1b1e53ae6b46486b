#pragma once

// What the parts of a scheduling cycle share: what it decides from, what it has counted, and the
// plan so far.
//
// Each part (`JobStarter`, `BackfillReservations` and the others) holds a reference to it and takes
// what it plans out of it. Thread promise: owned by one call of MakePlan. Invariants: (1) what is
// free only falls as the cycle goes on; (2) all decisions depend on the snapshot and the
// configuration alone.

#include <vector>

#include "scheduler/core/plan/availability/availability.h"
#include "scheduler/core/plan/search/eligibility.h"
#include "scheduler/core/plan/search/planned_nodes.h"
#include "scheduler/core/plan/search/preemption.h"
#include "scheduler/core/plan/search/start_options.h"
#include "scheduler/core/plan/start/plan_draft.h"
#include "scheduler/core/policy/limits.h"
#include "scheduler/core/power/power_limits.h"
#include "scheduler/model/plan/snapshot.h"
#include "scheduler/model/settings/scheduler_config.h"

namespace muster::core {

// The ways in which a job may start, in order of preference.
using OptionList = std::vector<const StartOption*>;

struct CycleState {
  // `start_options` and `room` are of the snapshot, with nothing taken. REQUIRES: all outlive it.
  CycleState(const Snapshot& of, const SchedulerConfig& scheduler_config,
             StartOptions& start_options, Availability& room);
  CycleState(const CycleState&) = delete;
  CycleState& operator=(const CycleState&) = delete;

  const Snapshot& snapshot;
  const SchedulerConfig& config;
  const PowerLimits power;
  StartOptions& options;
  Availability& availability;
  CycleCounts counts;
  CycleUsage usage;
  PlannedNodes nodes;
  Preemption preemption;
  PlanDraft plan;
};

// The ways in which the job may be started by now; `usable` says which alternatives, empty: all.
OptionList OptionsOf(CycleState& cycle, const WaitingJob& job, const std::vector<bool>& usable);

}  // namespace muster::core
