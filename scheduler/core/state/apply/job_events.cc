#include "scheduler/core/state/apply/job_events.h"

#include <memory>
#include <utility>
#include <vector>

#include "scheduler/base/status.h"
#include "scheduler/core/state/tables/alternatives.h"
#include "scheduler/core/state/tables/attempt.h"
#include "scheduler/core/state/tables/checkpoint_account.h"
#include "scheduler/model/job/array.h"

namespace muster::core {
namespace {

// The spec; where one of the jobs just before asked for the very same, theirs: loops of submissions
// make thousands of equal ones.
std::shared_ptr<const JobSpec> ShareSpec(const JobTable& jobs, JobId id, const JobSpec& spec) {
  constexpr std::uint64_t kLookedAt = 8;
  for (std::uint64_t back = 1; back <= kLookedAt && back < id.value(); ++back) {
    const JobId before(id.value() - back);
    const Job* job = jobs.IsUntouched(before) ? nullptr : jobs.Find(before);
    if (job != nullptr && job->changed_spec == nullptr && *job->spec == spec) {
      return job->spec;
    }
  }
  return std::make_shared<const JobSpec>(spec);
}

// The job, or the jobs of a group with consecutive ids.
void AddJobs(StateParts& state, const JobSubmitted& event) {
  const std::shared_ptr<const JobSpec> spec = ShareSpec(state.jobs, event.first, event.spec);
  MUSTER_CHECK(event.count == (spec->array.has_value() ? ElementCount(*spec->array)
                                                       : event.components.size() + 1));
  Job job;
  job.id = event.first;
  job.submission = event.first;
  job.spec = spec;
  job.held = spec->held;
  job.submitted = event.time;
  job.estimate = event.estimate;
  if (spec->array.has_value()) {
    job.array_index = ElementIndexAt(*spec->array, 0);
    state.jobs.Add(UntouchedElements{std::move(job), event.count});
    return;
  }
  job.het_size = event.components.empty() ? 0 : event.count;
  for (std::uint32_t i = 0; i < event.count; ++i) {
    Job component = job;
    component.id = JobId(event.first.value() + i);
    if (i > 0) {
      component.spec = std::make_shared<const JobSpec>(event.components[i - 1].spec);
    }
    state.index.Note(component);
    state.jobs.Add(std::move(component));
  }
}

// The job has its resources no more, and what it used is on its account.
void Release(StateParts& state, const Job& job, Time now) {
  MUSTER_CHECK(AllEnded(*job.attempt));
  state.Free(job);
  state.policy.End(job, now);
  state.usage.Charge(job, now);
}

void EndUntouched(StateParts& state, const JobEnded& event) {
  MUSTER_CHECK(IsAllowed(JobState::kPending, JobChange::kDrop, event.state));
  const std::uint32_t count = event.more + 1;
  const Job* first = state.jobs.Find(event.job);
  MUSTER_CHECK(first != nullptr);
  Job job = *first;  // one element after the other
  for (std::uint32_t i = 0; i < count; ++i) {
    job.id = JobId(event.job.value() + i);
    job.array_index = IndexOfElement(*job.spec->array, job.submission, job.id);
    state.dependencies.Ended(job, event.state);
    state.policy.Forget(*job.spec);
  }
  state.jobs.EraseUntouched(event.job, count);
}

}  // namespace

void ApplyTo(StateParts& state, const JobSubmitted& event) {
  MUSTER_CHECK(event.first == state.next_job && event.count > 0);
  AddJobs(state, event);
  state.next_job = JobId(event.first.value() + event.count);
  const JobSpec& spec = event.spec;
  const std::uint32_t alike = event.components.empty() ? event.count : 1;
  state.policy.Submit(spec, alike);
  state.index.NoteSpec(spec);
  state.dependencies.Join(spec, event.first, alike);
  for (const Component& component : event.components) {
    state.policy.Submit(component.spec, 1);
    state.index.NoteSpec(component.spec);
    state.dependencies.Join(component.spec, event.first, 1);
  }
  if (!spec.dependency.terms.empty()) {
    auto progress =
        BeginProgress(state.jobs, spec.dependency, spec.array.has_value(), event.history);
    MUSTER_CHECK(progress.ok());
    state.dependencies.Wait({event.first, false}, spec.dependency, *std::move(progress),
                            event.count);
  }
  state.tokens.Remember(TokenOwner{event.token, event.first, StepId()});
}

void ApplyTo(StateParts& state, const JobHeld& event) {
  Job& job = state.MustJob(event.job);
  job.held = event.held;
  job.held_by = event.held ? event.by : HoldBy::kUser;
}

void ApplyTo(StateParts& state, const StartPromised& event) {
  Job& job = state.MustJob(event.job);
  MUSTER_CHECK(IsWaiting(job.state));
  job.promised = event.by;
}

void ApplyTo(StateParts& state, const JobUpdated& event) {
  Job& job = state.MustJob(event.job);
  std::vector<TermProgress> progress = state.dependencies.ProgressOf(job);
  if (!(event.spec.dependency == job.spec->dependency)) {
    auto begun = BeginProgress(state.jobs, event.spec.dependency, job.array_index.has_value(),
                               event.history);
    MUSTER_CHECK(begun.ok());
    progress = *std::move(begun);
  }
  state.dependencies.Change(job, event.spec, std::move(progress));
  const std::shared_ptr<const JobSpec> before = job.spec;
  if (job.attempt.has_value()) {
    state.index.RemoveHolder(job);
  }
  SetSpec(job, event.spec);
  state.index.NoteSpec(event.spec);
  if (job.attempt.has_value()) {
    state.index.AddHolder(job);
  }
  state.policy.Update(*before, job);
}

void ApplyTo(StateParts& state, const JobRequeued& event) {
  Job& job = state.MustJob(event.job, event.attempt);
  state.Change(job, JobChange::kRequeue, JobState::kPending);
  Release(state, job, event.time);
  state.dependencies.Requeued(job);
  job.checkpoints = TotalsAtEnd(job, event.time);
  if (HasChoice(*job.spec)) {
    SetSpec(job, event.resized ? ForTheRest(AsAsked(*job.spec), *job.attempt, event.time)
                               : AsAsked(*job.spec));
  }
  job.attempt.reset();
  job.resized = event.resized ? event.time : kNoTime;
  job.promised = kNoTime;
  job.within = event.resized ? job.within : 0;
  job.requeues += event.preempted || event.progressed || event.resized ? 0 : 1;
  if (event.held) {
    job.held = true;
    job.held_by = HoldBy::kMaxRequeue;
  }
}

void ApplyTo(StateParts& state, const JobEnded& event) {
  if (event.more > 0) {
    return EndUntouched(state, event);
  }
  Job& job = state.MustJob(event.job);
  state.Change(job, job.attempt.has_value() ? JobChange::kEnd : JobChange::kDrop, event.state);
  if (job.attempt.has_value()) {
    Release(state, job, event.time);
  }
  state.dependencies.Ended(job, event.state);
  state.policy.Forget(*job.spec);
  state.index.Erase(event.job);
  state.jobs.Erase(event.job);
}

}  // namespace muster::core
