#include "scheduler/core/state/apply/state_parts.h"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "scheduler/base/status.h"

namespace muster::core {
namespace {

// Who waits for whom, out of the live jobs and what is known of the ended ones.
void ResolveDependencies(const std::vector<TargetHistory>& history, StateParts& state) {
  std::map<JobId, std::uint32_t> sharing;  // jobs with the spec of their submission
  state.jobs.ForEachRun([&](const Job& job, std::uint32_t count) {
    state.dependencies.Join(*job.spec, job.submission, count);
    if (job.attempt.has_value()) {
      state.dependencies.Allocated(job);
    }
    sharing[job.submission] += job.changed_spec == nullptr ? count : 0;
  });
  state.jobs.ForEachRun([&](const Job& job, std::uint32_t) {
    const bool changed = job.changed_spec != nullptr;
    const auto shared = sharing.find(job.submission);
    if (job.spec->dependency.terms.empty() || (!changed && shared->second == 0)) {
      return;
    }
    auto progress =
        BeginProgress(state.jobs, job.spec->dependency, job.array_index.has_value(), history);
    MUSTER_CHECK(progress.ok());
    state.dependencies.Wait({changed ? job.id : job.submission, changed}, job.spec->dependency,
                            *std::move(progress), changed ? 1 : std::exchange(shared->second, 0));
  });
}

}  // namespace

StateParts::StateParts(StateImage image) : epoch(image.epoch), next_job(image.next_job) {
  nodes.Load(std::move(image.nodes), image.next_node);
  std::shared_ptr<const JobSpec> before;  // of a job as submitted: the next may ask for the same
  for (Job& job : image.jobs) {
    MUSTER_CHECK(job.spec != nullptr);
    if (job.changed_spec == nullptr) {
      job.spec = before != nullptr && *before == *job.spec ? before : job.spec;
      before = job.spec;
    }
    index.NoteSpec(*job.spec);
    index.Note(job);
    if (job.attempt.has_value()) {
      nodes.AddHolder(job);
      index.AddHolder(job);
      licenses.Take(job);
    }
    jobs.Add(std::move(job));
  }
  for (UntouchedElements& elements : image.elements) {
    MUSTER_CHECK(elements.first.spec != nullptr);
    index.NoteSpec(*elements.first.spec);
    jobs.Add(std::move(elements));
  }
  for (const auto& [id, node] : nodes.all()) {
    nodes.Recount(id, jobs);
    health.NoteMachine(id, *node.machine);
    for (const QuarantinedAttempt& attempt : node.quarantined) {
      UseUp(attempt);
    }
  }
  policy.Load(image.policy, image.spent, jobs, nodes.all());
  usage.Load(image.usage, image.half_life);
  health.Load(std::move(image.health), image.tallies);
  power.Load(image.power);
  alerts.Load(std::move(image.alerts));
  narrow_links.Load(image.narrow_links);
  for (TokenOwner& owner : image.tokens) {
    tokens.Remember(std::move(owner));
  }
  ResolveDependencies(image.history, *this);
}

Job& StateParts::MustJob(JobId id) {
  Job* job = jobs.Touch(id);
  MUSTER_CHECK(job != nullptr);
  if (IsWaiting(job->state)) {
    index.Note(*job);  // it may have been an untouched element
  }
  return *job;
}

Job& StateParts::MustJob(JobId id, AttemptNumber number) {
  Job& job = MustJob(id);
  MUSTER_CHECK(job.attempt.has_value() && job.attempt->number == number);
  return job;
}

void StateParts::Change(Job& job, JobChange change, JobState to) {
  MUSTER_CHECK(IsAllowed(job.state, change, to));
  job.state = to;
  index.Note(job);
}

void StateParts::Take(const Job& job) {
  nodes.Take(job);
  index.AddHolder(job);
  licenses.Take(job);
}

void StateParts::Free(const Job& job) {
  nodes.Free(job, jobs);
  index.RemoveHolder(job);
  licenses.Free(job);
}

void StateParts::UseUp(const QuarantinedAttempt& attempt) {
  next_job = std::max(next_job, attempt.job.Next());
  if (jobs.contains(attempt.job)) {
    Job& job = MustJob(attempt.job);
    job.last_attempt = std::max(job.last_attempt, attempt.attempt);
  }
}

void SetSpec(Job& job, JobSpec spec) {
  job.changed_spec = std::make_shared<const JobSpec>(std::move(spec));
  job.spec = job.changed_spec;
}

}  // namespace muster::core
