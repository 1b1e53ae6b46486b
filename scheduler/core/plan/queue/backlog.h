#pragma once

// The work that waits and runs, as time for which it keeps the whole cluster busy.
//
// A job's work is its dominant share times how long it may run, or is thought to. One without a
// limit counts for a day. It is summed up when it is first asked for: a cycle that starts all that
// waits does not ask. Thread promise: one thread. Invariants: integers only; more work never gives
// a shorter time.

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/numeric/int128.h"
#include "scheduler/core/plan/queue/dominant_share.h"
#include "scheduler/model/plan/snapshot.h"
#include "scheduler/model/value/ids.h"
#include "scheduler/model/value/time.h"

namespace muster::core {

// What stands in for the limit of a job that has none.
inline constexpr Duration kUnsaidLimit = std::chrono::hours(24);

// How long the job may run, and how long it is thought to.
Duration LimitOf(const JobSpec& spec);
Duration EstimateOf(const JobSpec& spec, Duration estimate);

class Backlog {
 public:
  // REQUIRES: the snapshot outlives it.
  Backlog(const Snapshot& snapshot, const Amounts& whole) : snapshot_(snapshot), whole_(whole) {}

  // Of all that waits and runs, by estimates.
  [[nodiscard]] Duration All() const;
  // Of all that runs, and of those that wait and have a smaller id than the job, by limits.
  [[nodiscard]] Duration Before(JobId job) const;

 private:
  // Jobs that wait, with ids in a row, and the work of one of them.
  struct Run {
    JobId first;
    std::uint32_t count = 0;
    absl::uint128 work = 0;
    absl::uint128 before = 0;  // of all with smaller ids
  };

  struct Work {
    absl::uint128 all = 0;
    absl::uint128 running = 0;
    std::vector<Run> runs;  // by id
  };

  const Work& Sum() const;
  void AddRunning(Work& work) const;
  void AddWaiting(Work& work) const;

  const Snapshot& snapshot_;
  const Amounts whole_;
  mutable std::optional<Work> work_;
};

}  // namespace muster::core
