#pragma once

// Places in time and on nodes that are kept for waiting jobs, so that every promised start can be
// kept together: the order called prompt.
//
// A job is promised a latest start when it is first left waiting: what first come, first served
// would give it, and the slack. Its place is as late as that allows on the nodes found for it, and
// stays, node for node, from plan to plan. A tier's places are taken before any of its jobs is
// looked at, so no job that starts by a smaller key can break a promise; the first that waits of a
// partition has its place moved to where it could start first, and for the first of a tier others'
// places make way as far as their promises allow. A job that a limit stops keeps no place that
// begins now. Only the site's policy (a higher tier), nodes that leave and jobs that outlive their
// limits move a promise. Thread promise: none; owned by one cycle. Invariants: (1) from a tier's
// beginning on, what is free only falls; (2) the same snapshot and settings give the same places.

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "scheduler/core/plan/cycle/cycle_state.h"
#include "scheduler/core/plan/cycle/job_starter.h"
#include "scheduler/core/plan/queue/queue_priority.h"
#include "scheduler/core/prompt/prompt_order.h"

namespace muster::core {

class KeptPlaces {
 public:
  // REQUIRES: both outlive it.
  KeptPlaces(CycleState& cycle, JobStarter& starter);

  // Places are kept at all.
  [[nodiscard]] bool on() const { return on_; }
  // How many this cycle made.
  [[nodiscard]] std::size_t made() const { return made_ + unpromised_; }

  // Takes the places of these entries, which stand in one tier, and finds others for those that do
  // not hold any more. REQUIRES: `priority` outlives it.
  void BeginTier(const QueuePriority& priority, const std::vector<const WaitingJob*>& entries);

  // Starts the job where its own place is in its own way. `limit` as JobStarter's.
  bool StartBesideOwn(const WaitingJob& job, const OptionList& options,
                      std::optional<Reason>& limit);
  // True when its place begins within that time.
  [[nodiscard]] bool StartsWithin(JobId job, Duration time) const;
  // The job waits; it keeps its place or is given one. `is_first`: of its partition. When it is
  // thought to start, or kNoTime.
  Time Keep(const WaitingJob& job, const OptionList& options, bool is_first);
  // Further elements of the entry, which are as the one that Keep was asked of last.
  void LeaveAlike(const WaitingJob& entry, std::uint32_t first, std::uint32_t count);
  // All have been looked at: those that are left get places, as far as there are any, the first
  // that came first. Where something stays taken that no plan keeps (places of jobs that started
  // elsewhere, or were moved), the next cycle is to come at once.
  void Finish();

 private:
  struct Place {
    const StartOption* option = nullptr;
    Opening opening;
    Time by = kNoTime;   // the promise
    bool shown = false;  // in the plan
  };
  // Elements in a row, all alike, that wait without a place.
  struct Without {
    WaitingJob entry;
    OptionList options;
    std::uint32_t first = 0;  // of the entry's elements
    std::uint32_t count = 1;
    [[nodiscard]] std::uint64_t FirstId() const { return entry.id.value() + first; }
  };

  [[nodiscard]] std::optional<Place> Again(const PlannedReservation& reservation,
                                           const WaitingJob& job);
  [[nodiscard]] std::optional<Place> Earliest(const WaitingJob& job, const OptionList& options,
                                              Time before);
  void TakeEntry(const WaitingJob& entry, std::vector<WaitingJob>& lost);
  void LendWhatLimitsStop(const WaitingJob& entry);
  [[nodiscard]] std::optional<Place> AimFor(const std::vector<const WaitingJob*>& entries);
  [[nodiscard]] bool IsInItsWay(const PlannedReservation& reservation) const;
  bool MakeWay();
  bool PutLate(const WaitingJob& job, Place place);
  Time Give(const WaitingJob& job, const OptionList& options);
  void PutOff(Place& place) const;
  void MoveForward(const WaitingJob& job, const OptionList& options, Place& place);
  Time KeepUnpromised(const WaitingJob& job, const OptionList& options);
  void Put(JobId job, Place place);
  void Show(JobId job, Place& place);
  void Leave(const Place& place);
  [[nodiscard]] Time ThoughtStart(const Place& place) const;

  CycleState& cycle_;
  JobStarter& starter_;
  const bool on_;
  const PromptRules rules_;
  const QueuePriority* priority_ = nullptr;
  std::map<JobId, Place> places_;
  // Of the tier that begins: the first job, where it could start if no place were kept, and whose
  // places are in its way.
  JobId first_;
  std::optional<Place> aim_;
  std::vector<std::pair<WaitingJob, Place>> in_its_way_;
  std::set<JobId> stopped_;                                     // of that tier: a limit stops them
  std::optional<std::map<std::uint32_t, NodeTimeline>> trial_;  // nodes as they were before it
  bool is_crowded_ = false;                                     // more wait than have places
  Duration longest_{0};                                         // limit of those that wait
  std::size_t made_ = 0;
  std::size_t unpromised_ = 0;
  std::vector<Without> without_;
  bool has_left_ = false;  // something is taken that is kept for nobody
};

}  // namespace muster::core
