#include "scheduler/core/eligibility.h"

#include <algorithm>

namespace muster {
namespace {

Reason Of(ReasonKind kind) {
  Reason reason;
  reason.kind = kind;
  return reason;
}

void WakeAt(Time time, PassCounts& counts) {
  counts.wake = counts.wake == kNoTime ? time : std::min(counts.wake, time);
}

std::uint32_t ThrottleOf(const WaitingJob& job) {
  return job.spec->array.has_value() ? job.spec->array->max_running : 0;
}

}  // namespace

PassCounts CountsOf(const Snapshot& snapshot) {
  PassCounts counts;
  for (const ArrayRunning& array : snapshot.arrays) {
    counts.array_running[array.submission] = array.running;
  }
  return counts;
}

void AddJobBlockers(const Snapshot& snapshot, const WaitingJob& job, PassCounts& counts,
                    std::vector<Reason>& blockers) {
  if (job.held) {
    blockers.push_back(Of(ReasonKind::kJobHeldUser));
  }
  if (job.quarantined) {
    blockers.push_back(Of(ReasonKind::kCleaning));
  }
  if (job.spec->begin > snapshot.now) {
    if (blockers.empty()) {
      WakeAt(job.spec->begin, counts);
    }
    blockers.push_back(Of(ReasonKind::kBeginTime));
    blockers.back().until = job.spec->begin;
  }
  const std::uint32_t throttle = ThrottleOf(job);
  if (throttle > 0) {
    const auto running = counts.array_running.find(job.submission);
    if (running != counts.array_running.end() && running->second >= throttle) {
      blockers.push_back(Of(ReasonKind::kJobArrayTaskLimit));
      blockers.back().limit = throttle;
    }
  }
}

void CountStart(const WaitingJob& job, PassCounts& counts) {
  if (ThrottleOf(job) > 0) {
    ++counts.array_running[job.submission];
  }
}

}  // namespace muster
