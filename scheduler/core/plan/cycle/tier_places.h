#pragma once

// The places of a tier's jobs, taken before any of them is looked at.
//
// Those of the last plan are taken again, node for node. The first job that only resources keep
// waiting has its place where it could start if no place were kept; what is in its way then is put
// as late as the promises allow, or else it all stays. Jobs whose places do not hold any more get
// others, so that all promises are kept together if some look finds a way. Thread promise: none;
// owned by one cycle.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "scheduler/core/plan/cycle/place_book.h"
#include "scheduler/core/plan/queue/backlog.h"
#include "scheduler/core/plan/search/job_place.h"
#include "scheduler/core/plan/start/cycle_state.h"

namespace muster::core {

// It is kept a place at all. Of a heterogeneous job the leader stands for all.
bool MayHavePlace(const WaitingJob& job);

class TierPlaces {
 public:
  // `is_crowded`: more wait than may have places; those of jobs without a promise are given up.
  // REQUIRES: both outlive it.
  TierPlaces(CycleState& cycle, PlaceBook& book, bool is_crowded)
      : cycle_(cycle), book_(book), is_crowded_(is_crowded) {}

  // `entries` stand in one tier, in order. REQUIRES: called once.
  void Take(const std::vector<const WaitingJob*>& entries, const Backlog& backlog);
  // The first job, for which others made way; none where no promise is waited for.
  [[nodiscard]] JobId first() const { return first_; }

 private:
  void TakeEntry(const WaitingJob& entry);
  void LendWhatLimitsStop(const WaitingJob& entry);
  [[nodiscard]] std::optional<JobPlace> AimFor(const std::vector<const WaitingJob*>& entries);
  bool MakeWay(const Backlog& backlog);
  bool PutLate(const WaitingJob& job, JobPlace place);
  void GiveLost(const Backlog& backlog);
  std::size_t TryToGive(const Backlog& backlog, Within where);
  std::size_t GiveAll(const Backlog& backlog, Within where);
  [[nodiscard]] std::optional<JobPlace> LateFor(const WaitingJob& job);

  CycleState& cycle_;
  PlaceBook& book_;
  const bool is_crowded_;
  JobId first_;
  std::optional<JobPlace> aim_;  // of the first
  std::vector<std::pair<WaitingJob, JobPlace>> in_its_way_;
  std::vector<WaitingJob> lost_;
};

}  // namespace muster::core
