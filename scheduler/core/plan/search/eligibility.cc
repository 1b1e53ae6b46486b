#include "scheduler/core/plan/search/eligibility.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "scheduler/core/policy/deadline.h"

namespace muster::core {
namespace {

Reason Of(ReasonKind kind) {
  Reason reason;
  reason.kind = kind;
  return reason;
}

std::uint32_t ThrottleOf(const WaitingJob& job) {
  return job.spec->array.has_value() ? job.spec->array->max_running : 0;
}

Reason WhyHeld(const WaitingJob& job, const SchedulerConfig& config) {
  switch (job.held_by) {
    case HoldBy::kAdmin:
      return Of(ReasonKind::kJobHeldAdmin);
    case HoldBy::kMaxRequeue: {
      Reason reason = Of(ReasonKind::kJobHoldMaxRequeue);
      reason.used = job.last_attempt.value();
      reason.capacity = config.requeues_max;
      return reason;
    }
    case HoldBy::kOrderTooLarge: {
      Reason reason = Of(ReasonKind::kJobLaunchFailure);
      reason.name = "it has more tasks than an order to a node can hold; submit it with fewer";
      return reason;
    }
    case HoldBy::kOrderFailed: {
      Reason reason = Of(ReasonKind::kJobLaunchFailure);
      reason.name = "the order to start it could not be delivered to its nodes; see muster show";
      return reason;
    }
    case HoldBy::kRestored: {
      Reason reason = Of(ReasonKind::kJobHeldAdmin);
      reason.name = "the controller's state was restored from a copy, and it may have run since";
      return reason;
    }
    case HoldBy::kUser:
      break;
  }
  return Of(ReasonKind::kJobHeldUser);
}

void AddDependency(const WaitingJob& job, CycleCounts& counts, std::vector<Reason>& blockers) {
  if (job.dependency != nullptr) {
    const OpenDependency& open = *job.dependency;
    const bool never = open.state == TermState::kNever;
    Reason reason = Of(never ? ReasonKind::kDependencyNeverSatisfied : ReasonKind::kDependency);
    reason.verdict = never ? ReasonClass::kNever : ReasonClass::kNotNow;
    reason.name = open.terms;
    reason.holders = open.holders;
    reason.until = open.until;
    if (open.until != kNoTime) {
      WakeAt(open.until, counts);
    }
    blockers.push_back(std::move(reason));
  } else if (counts.alone.contains(job.submission)) {
    blockers.push_back(Of(ReasonKind::kDependency));
    blockers.back().name = "singleton";
    blockers.back().holders = {job.submission};
  }
}

void AddTimes(Time now, const WaitingJob& job, CycleCounts& counts, std::vector<Reason>& blockers) {
  if (job.spec->begin > now) {
    if (blockers.empty()) {
      WakeAt(job.spec->begin, counts);
    }
    blockers.push_back(Of(ReasonKind::kBeginTime));
    blockers.back().until = job.spec->begin;
    // A job that has begun once was let wait by the end of that attempt: see group_end.
    if (job.last_attempt.valid() && job.spec->container.given()) {
      blockers.back().name =
          absl::StrCat("at its last start there was no image ", job.spec->container.image);
    }
  }
  if (job.spec->deadline == kNoTime) {
    return;
  }
  if (CanMeetDeadline(*job.spec, now)) {
    WakeAt(LatestStart(*job.spec) + Duration(1), counts);
  } else {
    blockers.push_back(Of(ReasonKind::kDeadline));
    blockers.back().verdict = ReasonClass::kNever;
    blockers.back().until = job.spec->deadline;
  }
}

}  // namespace

void WakeAt(Time time, CycleCounts& counts) {
  if (time != kNoTime) {
    counts.wake = counts.wake == kNoTime ? time : std::min(counts.wake, time);
  }
}

CycleCounts::CycleCounts(const Snapshot& snapshot, const SchedulerConfig& policy)
    : config(policy), licenses(snapshot.licenses) {
  for (const ArrayRunning& array : snapshot.arrays) {
    array_running[array.submission] = array.running;
  }
}

void AddJobBlockers(const Snapshot& snapshot, const WaitingJob& job, CycleCounts& counts,
                    std::vector<Reason>& blockers) {
  if (job.held) {
    blockers.push_back(WhyHeld(job, counts.config));
  }
  if (job.quarantined) {
    blockers.push_back(Of(ReasonKind::kCleaning));
  }
  AddDependency(job, counts, blockers);
  AddTimes(snapshot.now, job, counts, blockers);
  const std::uint32_t throttle = ThrottleOf(job);
  if (throttle > 0) {
    const auto running = counts.array_running.find(job.submission);
    if (running != counts.array_running.end() && running->second >= throttle) {
      blockers.push_back(Of(ReasonKind::kJobArrayTaskLimit));
      blockers.back().limit = throttle;
    }
  }
  if (std::optional<Reason> reason = counts.licenses.WhyShort(*job.spec, counts.config)) {
    blockers.push_back(*std::move(reason));
  }
}

std::optional<PlannedDrop> DropOf(const WaitingJob& job, const std::vector<Reason>& blockers) {
  for (const Reason& blocker : blockers) {
    if (blocker.kind == ReasonKind::kDeadline) {
      return PlannedDrop{job.id, JobState::kDeadline, "could not end by its deadline"};
    }
    if (blocker.kind == ReasonKind::kDependencyNeverSatisfied &&
        job.spec->kill_on_invalid_dep == Choice::kYes) {
      return PlannedDrop{job.id, JobState::kCancelled,
                         "its dependency can no longer be met: " + blocker.name};
    }
  }
  return std::nullopt;
}

void CountStart(const WaitingJob& job, CycleCounts& counts) {
  if (ThrottleOf(job) > 0) {
    ++counts.array_running[job.submission];
  }
  counts.licenses.Take(job.id, *job.spec);
  if (IsSingleton(job.spec->dependency)) {
    counts.alone.insert(job.submission);
  }
}

}  // namespace muster::core
