#pragma once

// Openings that are kept for jobs that wait, so that no later job delays them.
//
// The policy says for how many jobs an opening is kept. One that the last plan promised is kept to
// while nothing earlier is found. Thread promise: none; owned by one cycle. Invariants: (1) what is
// kept is taken out of the availability; (2) openings too far off to be shown are kept, too.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "scheduler/core/plan/search/group_search.h"
#include "scheduler/core/plan/search/preemption.h"
#include "scheduler/core/plan/start/cycle_state.h"

namespace muster::core {

// A job that starts within this time anyway has none preempted. Longer than what a job that was
// told to end is taken to need (place/nodes/task_capacity), so that none is preempted twice.
inline constexpr Duration kSoon = std::chrono::seconds(60);

// An option and when it could start.
struct Prospect {
  const StartOption* option = nullptr;
  Opening opening;
  bool is_promised = false;  // it is what the last plan promised, and still holds
};

class BackfillReservations {
 public:
  // REQUIRES: the cycle outlives it.
  explicit BackfillReservations(CycleState& cycle);

  // True while an opening may be kept for one more job.
  [[nodiscard]] bool any_left() const { return left_ > 0; }
  // For how many jobs one was kept.
  [[nodiscard]] std::size_t kept() const { return kept_; }
  // The first element, of those from `first` to before `last`, to which the last plan promised
  // nodes; `last` when there is none.
  [[nodiscard]] JobId FirstPromised(JobId first, JobId last) const;

  // The earliest opening of all options; of none when none is known.
  [[nodiscard]] Prospect Earliest(const WaitingJob& job, const OptionList& options) const;
  // Keeps the prospect's nodes free of jobs that come after. When the job starts, or kNoTime:
  // unknown. REQUIRES: any_left().
  Time Keep(const WaitingJob& job, const Prospect& prospect);
  // Keeps a place for each component. When they start, or kNoTime. REQUIRES: any_left().
  Time KeepTogether(const std::vector<const WaitingJob*>& group,
                    const std::vector<MemberPlace>& places);
  // Keeps what the job has once those that leave for it have left. When it starts then. It counts
  // as none of those that may be kept.
  Time TakeOver(JobId job, const StartOption& option, const Eviction& eviction);

 private:
  using Promise = std::vector<PlannedReservation>::const_iterator;
  [[nodiscard]] Promise PromiseFrom(JobId job) const;
  [[nodiscard]] std::optional<Opening> Promised(JobId job, const Need& need, Time start) const;

  CycleState& cycle_;
  std::uint32_t left_;
  std::size_t kept_ = 0;
};

}  // namespace muster::core
