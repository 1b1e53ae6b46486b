#pragma once

// Deadlines: until when a job may start, and when it must end.
//
// Invariants: a job that starts by LatestStart and runs for LimitFrom ends by its deadline.

#include <algorithm>
#include <chrono>

#include "scheduler/model/job/job_spec.h"
#include "scheduler/model/value/time.h"

namespace muster::core {

// A limit from here on is none: no job waits for it.
inline constexpr Duration kNoLimit = std::chrono::hours(24) * 36500;

inline bool HasLimit(const JobSpec& spec) {
  return spec.time_limit > Duration(0) && spec.time_limit < kNoLimit;
}

// The last moment at which the job can start and still end in time. REQUIRES: it has a deadline.
inline Time LatestStart(const JobSpec& spec) {
  return HasLimit(spec) ? spec.deadline - spec.time_limit : spec.deadline - Duration(1);
}

// True while a job that starts at `start` can end in time.
inline bool CanMeetDeadline(const JobSpec& spec, Time start) {
  return spec.deadline == kNoTime || start <= LatestStart(spec);
}

// How long the job may run when it started then: its limit, or less where its deadline is sooner.
inline Duration LimitFrom(const JobSpec& spec, Time started) {
  if (spec.deadline == kNoTime) {
    return spec.time_limit;
  }
  const Duration left = std::max(spec.deadline - started, Duration(1));
  return HasLimit(spec) ? std::min(spec.time_limit, left) : left;
}

}  // namespace muster::core
