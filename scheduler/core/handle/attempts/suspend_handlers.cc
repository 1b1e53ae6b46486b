#include "scheduler/core/handle/attempts/suspend_handlers.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "scheduler/base/status.h"
#include "scheduler/core/policy/job_access.h"
#include "scheduler/core/state/actions.h"
#include "scheduler/core/state/job_group.h"

namespace muster::core {
namespace {

// The orders to the nodes for the next suspension or resumption of the job.
void TellNodes(Job job, Transition& transition) {
  ++job.attempt->suspension;
  for (const Effect& effect : ActionsFor(job)) {
    if (std::holds_alternative<Suspend>(effect) || std::holds_alternative<Resume>(effect)) {
      transition.effects.push_back(effect);
    }
  }
}

absl::Status Refusal(const Job& job, const char* why) {
  return absl::FailedPreconditionError(absl::StrCat("job ", ToString(job.id), ": ", why));
}

// Why the job cannot be suspended, or asked back, as it is.
absl::Status CheckSuspend(const Job& job) {
  switch (job.state) {
    case JobState::kRunning:
    case JobState::kSuspended:
      return absl::OkStatus();
    case JobState::kPending:
      return Refusal(job, "has not started; muster hold keeps it waiting");
    case JobState::kConfiguring:
      return Refusal(job, "is starting; suspend it once it runs");
    default:
      return Refusal(job, "is ending already");
  }
}

absl::Status CheckResume(const Job& job) {
  return IsSuspended(job.state)
             ? absl::OkStatus()
             : Refusal(job, "is not suspended; muster release lets a held job go");
}

void SuspendByHand(const Job& job, const User& by, Time now, Transition& transition) {
  ++transition.count;
  const std::string text = absl::StrCat("suspended by ", by.name);
  if (IsRunning(job.state)) {
    Suspended(job, SuspendedBy::kOperator, text, now, transition);
  } else if (job.attempt->suspended_by != SuspendedBy::kOperator) {
    transition.events.emplace_back(
        AttemptSuspending{job.id, job.attempt->number, SuspendedBy::kOperator, text, now});
  }
}

void AskBack(const Job& job, const User& by, Time now, Transition& transition) {
  ++transition.count;
  if (job.attempt->suspended_by == SuspendedBy::kOperator) {
    transition.events.emplace_back(AttemptSuspending{job.id, job.attempt->number,
                                                     SuspendedBy::kReleased,
                                                     absl::StrCat("asked back by ", by.name), now});
  }
}

}  // namespace

Transition On(const ClusterState& state, const SuspendJob& command, Time now,
              const SchedulerConfig& config) {
  const auto jobs = FindWhole(state, command.job, command.array_index);
  if (!jobs.ok()) {
    return Refused(jobs.status());
  }
  if (!IsOperator(command.by, config)) {
    return Refused(absl::PermissionDeniedError(
        absl::StrCat("job ", Label(command.job, command.array_index), ": only an operator ",
                     command.suspended ? "suspends" : "resumes", " jobs")));
  }
  Transition transition;
  absl::Status last;
  for (const Job* job : *jobs) {
    const absl::Status may = command.suspended ? CheckSuspend(*job) : CheckResume(*job);
    last.Update(may);
    if (!may.ok()) {
      continue;
    }
    if (command.suspended) {
      SuspendByHand(*job, command.by, now, transition);
    } else {
      AskBack(*job, command.by, now, transition);
    }
  }
  // Of an array, the elements that can be are suspended or resumed and the others left as they are.
  if (transition.count == 0) {
    return Refused(std::move(last));
  }
  transition.effects.emplace_back(Replan{});
  return transition;
}

void Suspended(const Job& job, SuspendedBy by, std::string text, Time now, Transition& transition) {
  transition.events.emplace_back(
      AttemptSuspending{job.id, job.attempt->number, by, std::move(text), now});
  TellNodes(job, transition);
}

void Resumed(const Job& job, Time now, Transition& transition) {
  transition.events.emplace_back(AttemptResumed{job.id, job.attempt->number, now});
  TellNodes(job, transition);
}

}  // namespace muster::core
