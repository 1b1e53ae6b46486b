#include "scheduler/core/handle/job_handlers.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "scheduler/base/status.h"
#include "scheduler/core/handle/attempts/attempt_end.h"
#include "scheduler/core/handle/attempts/limit_change.h"
#include "scheduler/core/handle/changed_options.h"
#include "scheduler/core/handle/submit/dependency_check.h"
#include "scheduler/core/handle/submit/recurring_job.h"
#include "scheduler/core/handle/submit/validate.h"
#include "scheduler/core/policy/admission.h"
#include "scheduler/core/policy/deadline.h"
#include "scheduler/core/policy/job_access.h"
#include "scheduler/core/state/job_group.h"

namespace muster::core {
namespace {

absl::Status CheckRequeue(const Job& job) {
  const auto refuse = [&](const char* why) {
    return absl::FailedPreconditionError(absl::StrCat("job ", ToString(job.id), ": ", why));
  };
  if (!job.attempt.has_value()) {
    return refuse("waits already; only a job that has started is requeued");
  }
  if (job.spec->kind != JobKind::kBatch) {
    return refuse("is not a batch job; only those are requeued");
  }
  if (job.attempt->ending != EndCause::kNone && job.attempt->ending != EndCause::kRequeued) {
    return refuse("is ending already");
  }
  if (job.spec->requeue == Choice::kNo) {
    return refuse("was submitted with --no-requeue");
  }
  return absl::OkStatus();
}

void Requeue(const Job& job, const User& by, Time now, Transition& transition) {
  ++transition.count;
  if (job.attempt->ending != EndCause::kNone) {
    return;  // it ends already, for this
  }
  EndAttempt(job, {EndCause::kRequeued, absl::StrCat("requeued by ", by.name)}, now, transition);
}

template <class T>
void Set(const std::optional<T>& change, T& member) {
  if (change.has_value()) {
    member = *change;
  }
}

// A job that has started keeps what it was placed for.
absl::StatusOr<JobSpec> ChangedAsItRuns(const ClusterState& state, const Job& job,
                                        const UpdateJob& command, JobSpec asked, Time now,
                                        const SchedulerConfig& config) {
  const JobUpdate& changes = command.changes;
  JobUpdate allowed;
  allowed.name = changes.name;
  allowed.comment = changes.comment;
  allowed.time_limit = changes.time_limit;
  allowed.options = changes.options;
  allowed.asked = changes.asked;
  if (changes != allowed || !AreForRunning(changes.options)) {
    return absl::FailedPreconditionError(absl::StrCat(
        "job ", ToString(job.id),
        ": has started; only --time, --job-name, --comment, --requeue, --every and an array's "
        "throttle can still be changed"));
  }
  JobSpec spec = *job.spec;
  spec.name = std::move(asked.name);
  spec.comment = std::move(asked.comment);
  spec.requeue = asked.requeue;
  spec.recorded = std::move(asked.recorded);
  spec.every = std::move(asked.every);
  spec.array = std::move(asked.array);
  if (allowed.time_limit.has_value() && asked.time_limit != spec.time_limit) {
    RETURN_IF_ERROR(CheckNewLimit(state, job, asked.time_limit, command, now, config));
    spec.time_limit = asked.time_limit;
  }
  return spec;
}

// The terms of a changed dependency lead back to the job itself.
absl::Status CheckNoCycle(const ClusterState& state, const Job& job, const Dependency& dependency) {
  for (const DependencyTerm& term : dependency.terms) {
    for (const Job* target : state.FindJobs(term.job, term.element)) {
      if (state.dependencies().WaitsFor(*target, job.submission, state.jobs())) {
        return absl::InvalidArgumentError(
            absl::StrCat("--dependency: ", ToText(term), ": ",
                         target->submission == job.submission
                             ? "is the job itself"
                             : "waits for this job, and so they would for ever"));
      }
    }
  }
  return absl::OkStatus();
}

// Its next run follows from its other moments; without any, the one that waits is its last.
absl::Status CheckNewMoments(const Job& job, const JobUpdate& changes, Time now, JobSpec& spec) {
  if (IsComponent(job)) {
    return absl::InvalidArgumentError("--every: not for a heterogeneous job");
  }
  if (!spec.every.empty()) {
    spec.begin = changes.begin.value_or(kNoTime);
  }
  return FillRecurring(now, spec);
}

absl::StatusOr<JobSpec> Changed(const ClusterState& state, const Job& job, const UpdateJob& command,
                                Time now, const SchedulerConfig& config) {
  const JobUpdate& changes = command.changes;
  JobSpec spec = *job.spec;
  Set(changes.name, spec.name);
  Set(changes.comment, spec.comment);
  Set(changes.time_limit, spec.time_limit);
  if (changes.nice.value_or(0) < 0 && !IsOperator(command.by, config)) {
    return absl::PermissionDeniedError("--nice: only operators raise a priority; use 0 or more");
  }
  Set(changes.nice, spec.nice);
  Set(changes.begin, spec.begin);
  Set(changes.deadline, spec.deadline);
  Set(changes.dependency, spec.dependency);
  RETURN_IF_ERROR(TakeOptions(changes, command.by, config, spec));
  ASSIGN_OR_RETURN(spec, Normalise(std::move(spec), config));
  if (spec.every != job.spec->every) {
    RETURN_IF_ERROR(CheckNewMoments(job, changes, now, spec));
  }
  if (job.attempt.has_value()) {
    return ChangedAsItRuns(state, job, command, std::move(spec), now, config);
  }
  if (ChangesPolicy(changes)) {
    // The job itself is submitted already, and counts no second time.
    RETURN_IF_ERROR(Admit(state.policy().snapshot(), Submission{0, true, now}, &spec));
  }
  if (changes.dependency.has_value()) {
    RETURN_IF_ERROR(CheckNoCycle(state, job, spec.dependency));
    RETURN_IF_ERROR(CheckDependencyNow(state.jobs(), spec, command.history, now));
  }
  if ((changes.deadline.has_value() || changes.time_limit.has_value()) &&
      !CanMeetDeadline(spec, now)) {
    return absl::InvalidArgumentError("--deadline: the job could not end by then any more");
  }
  return spec;
}

}  // namespace

Transition On(const ClusterState& state, const RequeueJob& command, Time now,
              const SchedulerConfig& config) {
  const auto jobs = FindWhole(state, command.job, command.array_index);
  if (!jobs.ok()) {
    return Refused(jobs.status());
  }
  Transition transition;
  absl::Status last;
  for (const Job* job : *jobs) {
    if (!MayChange(*job, command.by, config, state.policy().site())) {
      return Refused(NotYours(*job, command.by));
    }
    const absl::Status may = CheckRequeue(*job);
    if (may.ok()) {
      Requeue(*job, command.by, now, transition);
    }
    last.Update(may);
  }
  // Of an array, the elements that run are requeued and the others left as they are.
  return transition.count == 0 ? Refused(std::move(last)) : transition;
}

Transition On(const ClusterState& state, const UpdateJob& command, Time now,
              const SchedulerConfig& config) {
  const auto jobs = FindWhole(state, command.job, command.array_index);
  if (!jobs.ok()) {
    return Refused(jobs.status());
  }
  if (command.changes == JobUpdate()) {
    return Refused(absl::InvalidArgumentError("nothing to change: name an option"));
  }
  if (command.force && !IsOperator(command.by, config)) {
    return Refused(absl::PermissionDeniedError("--force: is for operators"));
  }
  Transition transition;
  for (const Job* job : *jobs) {
    if (!MayChange(*job, command.by, config, state.policy().site())) {
      return Refused(NotYours(*job, command.by));
    }
    absl::StatusOr<JobSpec> spec = Changed(state, *job, command, now, config);
    if (!spec.ok()) {
      return Refused(spec.status());
    }
    ++transition.count;
    if (*spec == *job->spec) {
      continue;
    }
    if (job->attempt.has_value() && spec->time_limit != job->spec->time_limit) {
      TellNewLimit(*job, spec->time_limit, now, transition);
    }
    transition.events.emplace_back(JobUpdated{job->id, *std::move(spec), command.history, now});
  }
  transition.effects.emplace_back(Replan{});
  return transition;
}

}  // namespace muster::core
