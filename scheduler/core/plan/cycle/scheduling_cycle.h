#pragma once

// A scheduling cycle under way: one look at every waiting job, in order.
//
// It goes through the queue and leaves the work to its parts: `JobStarter` and `HetJobStarter`
// start jobs, `BackfillReservations` keeps openings for those that wait, `ElasticResizer` changes
// the size of running ones, `WaitReasons` says why the others wait. Thread promise: owned by one
// call of MakePlan. Invariants: (1) every waiting job is looked at once; (2) what a cycle decides
// depends on the snapshot and the configuration alone.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "scheduler/core/plan/availability/availability.h"
#include "scheduler/core/plan/cycle/backfill_reservations.h"
#include "scheduler/core/plan/cycle/elastic_resizer.h"
#include "scheduler/core/plan/cycle/het_job_starter.h"
#include "scheduler/core/plan/cycle/kept_places.h"
#include "scheduler/core/plan/cycle/resumption.h"
#include "scheduler/core/plan/cycle/wait_reasons.h"
#include "scheduler/core/plan/queue/queue_priority.h"
#include "scheduler/core/plan/search/start_options.h"
#include "scheduler/core/plan/start/cycle_state.h"
#include "scheduler/core/plan/start/job_starter.h"
#include "scheduler/model/plan/plan.h"
#include "scheduler/model/plan/snapshot.h"
#include "scheduler/model/settings/scheduler_config.h"

namespace muster::core {

class SchedulingCycle {
 public:
  // `options` and `availability` are of the snapshot, with nothing taken. REQUIRES: all outlive it.
  SchedulingCycle(const Snapshot& snapshot, const SchedulerConfig& config, StartOptions& options,
                  Availability& availability);

  // The plan; jobs are looked at in the order of `priority`. To be called once.
  Plan Run(const QueuePriority& priority);

 private:
  // Counts on no node that is off and stays so while as many of its class are on as may be.
  void LeaveOff();
  // Takes the places that are kept for jobs of the tier that begins there in the order, if one
  // does.
  void BeginTier(const QueuePriority& priority, const std::vector<QueueEntry>& order,
                 std::size_t place);
  // One element of an array after the other. Once two in a row were left waiting and changed
  // nothing for later jobs, the others share their fate.
  void LookAtAll(const WaitingJob& entry, const QueueEntry& queued);
  // How often the cycle has changed what others find.
  [[nodiscard]] std::size_t Changes() const;
  // Leaves the elements from `first` to before `last` as the one before them was left, up to one to
  // which the last plan promised nodes. How many they are.
  std::uint32_t LeaveAlike(const WaitingJob& entry, std::uint32_t first, std::uint32_t last);
  // Starts the job, or notes why not.
  void LookAt(const WaitingJob& job);
  // Gives suspended jobs their cores back, or keeps these for them from here on.
  void LookAtSuspended(const std::vector<const RunningJob*>& jobs);
  // From here on in the cycle the cores are the suspended job's.
  void KeepCores(const OwnCores& part, bool from_now);
  // What policy has against the job; of alternatives, against all of them. Which of them it leaves.
  std::vector<bool> AddPolicyBlockersOfAll(const WaitingJob& job, std::vector<Reason>& blockers);
  // The job waits for resources, or for an earlier job that does; the first ones get a reservation.
  void LeaveBlocked(const WaitingJob& job, const OptionList& options);
  // Preempts others for the job, or keeps it the earliest opening. When it starts, or kNoTime:
  // unknown.
  Time PlanAhead(const WaitingJob& job, const OptionList& options);
  // Keeps an opening for it, that of the prospect unless that is null.
  Time Keep(const WaitingJob& job, const OptionList& options, const Prospect* prospect);

  CycleState state_;
  WaitReasons reasons_;
  JobStarter starter_;
  BackfillReservations reservations_;
  KeptPlaces places_;
  ElasticResizer elastic_;
  HetJobStarter groups_;
};

}  // namespace muster::core
