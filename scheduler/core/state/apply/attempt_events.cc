#include "scheduler/core/state/apply/attempt_events.h"

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "scheduler/base/status.h"
#include "scheduler/core/state/tables/alternatives.h"
#include "scheduler/core/state/tables/attempt.h"
#include "scheduler/core/state/tables/checkpoint_account.h"
#include "scheduler/model/job/container.h"
#include "scheduler/model/job/report.h"
#include "scheduler/model/plan/node_data.h"

namespace muster::core {
namespace {

void BeginSuspension(Attempt& attempt, Time begin) {
  std::vector<Suspension>& kept = attempt.suspensions;
  if (kept.size() == kSuspensionsKept) {
    kept.erase(kept.begin());
  }
  // Of one that was asked back before it was frozen the text says that, and no longer why.
  const bool known = attempt.suspended_by != SuspendedBy::kReleased;
  kept.push_back(Suspension{begin, kNoTime, known ? attempt.suspended_text : ""});
}

// What the node keeps for the next job of the user's that wants it, and what no more.
void NoteKept(StateParts& state, NodeId node, const JobSpec& spec, const RunStarted& started) {
  for (const std::string& gone : started.data.gone) {
    state.nodes.ForgetKept(node, MarkOfData(spec.user.uid, gone));
  }
  const std::uint64_t image =
      started.image.empty() ? 0 : MarkOfImage(spec.user.uid, spec.container.image);
  if (image != 0) {
    state.nodes.NoteKept(node, image);
  }
  if (started.data.found + started.data.made == spec.node_data.size()) {
    for (const std::string& source : spec.node_data) {
      state.nodes.NoteKept(node, MarkOfData(spec.user.uid, source));
    }
  }
}

}  // namespace

void ApplyTo(StateParts& state, const AttemptStarted& event) {
  Job& job = state.MustJob(event.job);
  MUSTER_CHECK(event.attempt == job.last_attempt.Next() ||
               (IsComponent(job) && event.attempt > job.last_attempt));
  state.dependencies.Started(job, event.time);
  state.Change(job, JobChange::kStart, JobState::kConfiguring);
  job.first_started = job.first_started == kNoTime ? event.time : job.first_started;
  job.last_attempt = event.attempt;
  job.within = 0;
  Attempt& attempt = job.attempt.emplace();
  attempt.number = event.attempt;
  attempt.allocation = event.allocation;
  attempt.started = event.time;
  attempt.partition = event.partition;
  attempt.billing = event.billing;
  attempt.runs.resize(event.allocation.nodes.size());
  attempt.advice.number = kFirstAdvice;
  attempt.advice.mtbf = state.health.MtbfOf(event.allocation);
  attempt.advice.loss_mtbf = state.health.LossMtbfOf(event.allocation);
  attempt.advice.cost = job.checkpoints.cost;
  attempt.advice.flush = job.checkpoints.flush;
  attempt.advice.slow = job.checkpoints.slow;
  if (job.spec->kind == JobKind::kRun) {
    attempt.last_step = StepId(1);
  }
  if (HasChoice(*job.spec)) {
    state.dependencies.Separate(job);
    SetSpec(job, AsChosen(*job.spec, event.alternative, event.tasks));
  }
  state.Take(job);
  state.policy.Start(job, state.nodes.all());
}

void ApplyTo(StateParts& state, const RunReported& event) {
  Job& job = state.MustJob(event.report.job, event.report.attempt);
  Attempt& attempt = *job.attempt;
  TakeInReport(attempt, event.node, event.report);
  if (const auto* ended = std::get_if<RunEnded>(&event.report.fact)) {
    state.health.NoteRunEnd(event.node, *ended, attempt.runs[*RunOn(attempt, event.node)].started);
  }
  if (const auto* started = std::get_if<RunStarted>(&event.report.fact)) {
    NoteKept(state, event.node, *job.spec, *started);
  }
  if (IsStarting(job.state) && AllStarted(attempt)) {
    state.Change(job, JobChange::kRun, JobState::kRunning);
  }
}

void ApplyTo(StateParts& state, const AttemptAdvised& event) {
  state.MustJob(event.job, event.attempt).attempt->advice = event.advice;
}

void ApplyTo(StateParts& state, const AttemptSuspending& event) {
  Job& job = state.MustJob(event.job, event.attempt);
  Attempt& attempt = *job.attempt;
  if (event.by == SuspendedBy::kReleased) {
    MUSTER_CHECK(IsSuspended(job.state));
  } else if (!IsSuspended(job.state)) {
    state.Change(job, JobChange::kSuspend, JobState::kSuspended);
    ++attempt.suspension;
  }
  attempt.suspended_by = event.by;
  attempt.suspended_text = event.text;
}

void ApplyTo(StateParts& state, const AttemptSuspended& event) {
  Job& job = state.MustJob(event.job, event.attempt);
  Attempt& attempt = *job.attempt;
  MUSTER_CHECK(IsSuspended(job.state) && HoldsCores(attempt) && AllFrozen(attempt));
  attempt.suspended_since = event.time;
  BeginSuspension(attempt, event.time);
  state.nodes.FreeCores(job, state.jobs);
  state.policy.Suspend(job);
}

void ApplyTo(StateParts& state, const AttemptResumed& event) {
  Job& job = state.MustJob(event.job, event.attempt);
  state.Change(job, JobChange::kResume, JobState::kRunning);
  Attempt& attempt = *job.attempt;
  ++attempt.suspension;
  if (!HoldsCores(attempt) && attempt.suspensions.empty()) {
    BeginSuspension(attempt, attempt.suspended_since);  // the state is of an older version
  }
  attempt.suspended_by = SuspendedBy::kNobody;
  attempt.suspended_text.clear();
  if (HoldsCores(attempt)) {
    return;  // it was asked back before its nodes had frozen it
  }
  attempt.suspensions.back().end = event.time;
  attempt.suspended_total = SuspendedFor(attempt, event.time);
  attempt.suspended_since = kNoTime;
  state.nodes.TakeCores(job);
  state.policy.Suspend(job);
}

void ApplyTo(StateParts& state, const AttemptEnding& event) {
  Job& job = state.MustJob(event.job, event.attempt);
  state.Change(job, JobChange::kTerminate, JobState::kCompleting);
  job.attempt->ending = event.cause;
  job.attempt->ending_text = event.text;
  job.within = event.within;
}

void ApplyTo(StateParts& state, const StepStarted& event) {
  TakeInStep(*state.MustJob(event.job, event.attempt).attempt, event);
  state.tokens.Remember(TokenOwner{event.token, event.job, event.step});
}

void ApplyTo(StateParts& state, const StepQueued& event) {
  TakeInStep(*state.MustJob(event.job, event.attempt).attempt, event);
  state.tokens.Remember(TokenOwner{event.token, event.job, event.step});
}

void ApplyTo(StateParts& state, const StepDropped& event) {
  TakeInStep(*state.MustJob(event.job, event.attempt).attempt, event);
}

}  // namespace muster::core
