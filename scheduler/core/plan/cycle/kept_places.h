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
// begins now. A heterogeneous job's components have one promise, and places that begin together.
// Only the site's policy (a higher tier), nodes that leave and jobs that outlive their
// limits move a promise. Thread promise: none; owned by one cycle. Invariants: (1) from a tier's
// beginning on, what is free only falls; (2) the same snapshot and settings give the same places.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "scheduler/core/plan/cycle/place_book.h"
#include "scheduler/core/plan/queue/queue_blockers.h"
#include "scheduler/core/plan/queue/queue_priority.h"
#include "scheduler/core/plan/search/job_place.h"
#include "scheduler/core/plan/start/cycle_state.h"
#include "scheduler/core/plan/start/job_starter.h"

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
  // Where a heterogeneous job could start now if its own place were not in its way.
  std::optional<std::vector<MemberPlace>> FindBesideOwn(const WaitingJob& leader,
                                                        const std::vector<GroupMember>& members);
  // True when its place begins within that time.
  [[nodiscard]] bool StartsWithin(JobId job, Duration time);
  // The job, which may be a leader, waits; it keeps its place or is given one. `before` says which
  // wait before it. When it is thought to start, or kNoTime.
  Time Keep(const WaitingJob& job, const std::vector<GroupMember>& members,
            const QueueBlockers& before);
  // Further elements of the entry, which are as the one that Keep was asked of last.
  void LeaveAlike(const WaitingJob& entry, std::uint32_t first, std::uint32_t count);
  // All have been looked at: those that are left get places, as far as there are any, the first
  // that came first. Where something stays taken that no plan keeps (places of jobs that started
  // elsewhere, or were moved), the next cycle is to come at once.
  void Finish();

 private:
  // Elements in a row, all alike, that wait without a place.
  struct Without {
    WaitingJob entry;
    std::vector<GroupMember> members;
    std::uint32_t first = 0;  // of the entry's elements
    std::uint32_t count = 1;
    [[nodiscard]] std::uint64_t FirstId() const { return entry.id.value() + first; }
  };

  Time Give(const WaitingJob& job, const std::vector<GroupMember>& members, Within where);
  void MoveForward(const WaitingJob& job, const std::vector<GroupMember>& members, JobPlace& place);
  Time KeepUnpromised(const WaitingJob& job, const std::vector<GroupMember>& members);
  void Show(JobPlace& place);
  void Leave(const JobPlace& place);
  [[nodiscard]] const JobPlace* InItsOwnWay(JobId job);
  [[nodiscard]] Time ThoughtStart(const JobPlace& place) const;

  CycleState& cycle_;
  JobStarter& starter_;
  PlaceBook book_;
  const bool on_;
  const QueuePriority* priority_ = nullptr;
  JobId first_;              // of the tier, for which others made way
  bool is_crowded_ = false;  // more wait than have places
  Duration longest_{0};      // limit of those that wait
  std::size_t made_ = 0;
  std::size_t unpromised_ = 0;
  std::vector<Without> without_;
  bool has_left_ = false;  // something is taken that is kept for nobody
};

}  // namespace muster::core
