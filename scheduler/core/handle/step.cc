#include "scheduler/core/handle/step.h"

#include <algorithm>
#include <span>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "scheduler/core/handle/attempts/attempt_end.h"
#include "scheduler/core/handle/attempts/checkpoint_turns.h"
#include "scheduler/core/handle/attempts/elastic_turns.h"
#include "scheduler/core/handle/attempts/suspend_turns.h"
#include "scheduler/core/handle/job_turns.h"
#include "scheduler/core/handle/nodes/agent_turns.h"
#include "scheduler/core/handle/nodes/health_turns.h"
#include "scheduler/core/handle/policy_turns.h"
#include "scheduler/core/handle/start_gate.h"
#include "scheduler/core/handle/steps/step_turns.h"
#include "scheduler/core/handle/submit/dependency_check.h"
#include "scheduler/core/handle/submit/group_submission.h"
#include "scheduler/core/handle/submit/new_job.h"
#include "scheduler/core/handle/submit/user_jobs.h"
#include "scheduler/core/handle/submit/validate.h"
#include "scheduler/core/handle/verify.h"
#include "scheduler/core/place/order_size.h"
#include "scheduler/core/policy/admission.h"
#include "scheduler/core/policy/deadline.h"
#include "scheduler/core/policy/job_access.h"
#include "scheduler/core/share/job_billing.h"
#include "scheduler/core/state/books/node_use.h"
#include "scheduler/core/state/books/usage_keys.h"
#include "scheduler/core/state/job_group.h"
#include "scheduler/model/job/array.h"
#include "scheduler/model/job/program_check.h"
#include "scheduler/model/plan/plan.h"
#include "scheduler/model/value/fingerprint.h"

namespace muster::core {
namespace {

Turn On(const ClusterState& state, const BeginEpoch&, Time now, const PolicyConfig& config) {
  Turn turn;
  turn.events.emplace_back(EpochBegan{state.epoch().Next(), now, config.priority.half_life});
  turn.effects.emplace_back(Replan{});
  return turn;
}

Turn On(const ClusterState& state, const SubmitJob& input, Time now, const PolicyConfig& config) {
  if (absl::Status token = CheckToken(input.token); !token.ok()) {
    return Refused(std::move(token));
  }
  Turn turn;
  if (const TokenOwner* owner = state.FindToken(input.token)) {
    turn.job = owner->job;
    return turn;
  }
  if (!input.components.empty()) {
    absl::StatusOr<JobSubmitted> group = AcceptGroup(state, input, now, config);
    if (!group.ok()) {
      return Refused(group.status());
    }
    turn.job = group->first;
    turn.events.emplace_back(*std::move(group));
    turn.effects.emplace_back(Replan{});
    return turn;
  }
  JobSpec asked = input.spec;
  BeginNew(config, asked);
  if (absl::Status choices = AddChoices(config, asked); !choices.ok()) {
    return Refused(std::move(choices));
  }
  absl::StatusOr<JobSpec> spec = Normalise(std::move(asked), config);
  if (!spec.ok()) {
    return Refused(spec.status());
  }
  if (absl::Status grace = CheckGrace(input.spec, config); !grace.ok()) {
    return Refused(std::move(grace));
  }
  if (absl::Status program = CheckProgram(spec->kind, input.program); !program.ok()) {
    return Refused(std::move(program));
  }
  if (absl::Status dependency = CheckDependencyNow(state.jobs(), *spec, input.history, now);
      !dependency.ok()) {
    return Refused(std::move(dependency));
  }
  if (!CanMeetDeadline(*spec, std::max(now, spec->begin))) {
    return Refused(absl::InvalidArgumentError(
        "--deadline: the job could not end by then, with its --begin and --time"));
  }
  const std::uint64_t count = spec->array.has_value() ? ElementCount(*spec->array) : 1;
  const Submission submission{count, input.spec.time_limit.count() > 0, now};
  if (absl::Status few = CheckUserJobs(state.jobs(), spec->user.name, count, config); !few.ok()) {
    return Refused(std::move(few));
  }
  if (absl::Status admitted = Admit(state.policy().picture(), submission, &*spec); !admitted.ok()) {
    return Refused(std::move(admitted));
  }
  turn.job = state.next_job();
  turn.events.emplace_back(JobSubmitted{turn.job,
                                        static_cast<std::uint32_t>(count),
                                        input.token,
                                        *std::move(spec),
                                        input.program,
                                        now,
                                        input.history,
                                        {}});
  turn.effects.emplace_back(Replan{});
  return turn;
}

// Ends one job, or untouched elements of an array: at once while it waits, else through its nodes.
void Cancel(const Job& job, std::uint32_t count, const User& by, Time now, Turn& turn) {
  const std::string text = absl::StrCat("cancelled by ", by.name);
  turn.count += count;
  if (!job.attempt.has_value()) {
    turn.events.emplace_back(
        JobEnded{job.id, JobState::kCancelled, ExitStatus(), text, now, count - 1});
    return;
  }
  const bool tells =
      job.attempt->ending == EndCause::kNone || job.attempt->ending == EndCause::kRequeued ||
      job.attempt->ending == EndCause::kPreempted ||
      job.attempt->ending == EndCause::kPreemptedToRequeue ||
      job.attempt->ending == EndCause::kResized || job.attempt->ending == EndCause::kLaunchFailed;
  if (tells) {
    EndAttempt(job, {EndCause::kCancelled, text}, now, turn);
  } else {
    OrderActions(job, turn);
  }
}

Turn On(const ClusterState& state, const CancelJob& input, Time now, const PolicyConfig& config) {
  if (const Job* job = state.FindJob(input.job)) {
    if (absl::Status whole = NamesWhole(*job, input.job); !whole.ok()) {
      return Refused(std::move(whole));
    }
  }
  Turn turn;
  absl::Status may;
  const auto cancel = [&](const Job& job, std::uint32_t count) {
    if (!MayChange(job, input.by, config)) {
      may.Update(NotYours(job));
    } else {
      Cancel(job, count, input.by, now, turn);
    }
  };
  if (!input.array_index.has_value()) {
    state.jobs().ForEachOf(input.job, cancel);
  } else {
    for (const Job* element : state.FindJobs(input.job, input.array_index)) {
      cancel(*element, 1);
    }
  }
  if (!may.ok()) {
    return Refused(std::move(may));
  }
  if (turn.count == 0) {
    return Refused(NoSuchJob(input.job, input.array_index));
  }
  turn.effects.emplace_back(Replan{});
  return turn;
}

Turn On(const ClusterState& state, const HoldJob& input, Time now, const PolicyConfig& config) {
  const std::vector<const Job*> jobs = state.FindJobs(input.job, input.array_index);
  if (jobs.empty()) {
    return Refused(NoSuchJob(input.job, input.array_index));
  }
  if (absl::Status whole = NamesWhole(*jobs.front(), input.job); !whole.ok()) {
    return Refused(std::move(whole));
  }
  Turn turn;
  for (const Job* job : jobs) {
    if (!MayChange(*job, input.by, config)) {
      return Refused(NotYours(*job));
    }
    if (job->state == JobState::kPending) {
      if (!input.held && job->held && job->held_by == HoldBy::kAdmin &&
          !IsOperator(input.by, config)) {
        return Refused(absl::PermissionDeniedError(absl::StrCat(
            "job ", ToString(job->id), ": held by the operator, who alone can release it")));
      }
      ++turn.count;
      const HoldBy by = input.by.uid == job->spec->user.uid ? HoldBy::kUser : HoldBy::kAdmin;
      if (job->held != input.held) {
        turn.events.emplace_back(JobHeld{job->id, input.held, now, by});
      }
    }
  }
  if (turn.count == 0) {
    return Refused(absl::FailedPreconditionError(
        absl::StrCat("job ", core::Label(input.job, input.array_index),
                     ": has started; only waiting jobs are held")));
  }
  turn.effects.emplace_back(Replan{});
  return turn;
}

Turn On(const ClusterState& state, const DrainNode& input, Time now, const PolicyConfig&) {
  const Node* node = state.FindNode(input.name);
  if (node == nullptr) {
    return Refused(
        absl::NotFoundError(absl::StrCat("node ", input.name, ": no such node; see muster nodes")));
  }
  if (input.drained && input.reason.empty()) {
    return Refused(absl::InvalidArgumentError("--reason: say why the node is drained"));
  }
  Turn turn;
  turn.node = node->id;
  if (node->drained != input.drained || (input.drained && node->drain_reason != input.reason)) {
    if (input.drained && !node->drained) {
      NoticeDrain(state, node->id, now, turn);
    }
    turn.events.emplace_back(NodeDrained{node->id, input.drained, input.reason, now});
    turn.effects.emplace_back(Replan{});
  }
  return turn;
}

// Tells the victims to end, or to give their cores back.
void GiveWay(const ClusterState& state, const PlannedPreemption& preemption, Time now, Turn& turn) {
  const std::string text = absl::StrCat("preempted by job ", ToString(preemption.job));
  for (const PlannedVictim& victim : preemption.victims) {
    if (victim.suspend) {
      Suspended(*state.FindJob(victim.job), SuspendedBy::kPreemption, text, now, turn);
      continue;
    }
    const EndCause cause = victim.requeue ? EndCause::kPreemptedToRequeue : EndCause::kPreempted;
    EndAttempt(*state.FindJob(victim.job), {cause, text}, now, turn);
  }
}

BillingRate BillingOf(const ClusterState& state, const PlannedStart& start,
                      const PolicyConfig& config) {
  TresUse held;
  for (const NodeAllocation& part : start.allocation.nodes) {
    AddUse(held, part, *state.FindNode(part.node)->machine);
  }
  const Qos* qos =
      FindQos(state.policy().book(), EffectiveQos(state.FindJob(start.job)->spec->qos));
  constexpr std::uint32_t kWhole = 1000;
  return core::BillingOf(held, qos == nullptr ? kWhole : qos->usage_factor, config.priority);
}

void Start(const ClusterState& state, const Plan& plan, const PlannedStart& start, Time now,
           const PolicyConfig& config, Turn& turn) {
  const AttemptNumber attempt = NextAttempt(state, *state.FindJob(start.job));
  turn.events.emplace_back(AttemptStarted{start.job, attempt, start.allocation, now, plan.hash,
                                          start.partition, BillingOf(state, start, config),
                                          start.alternative, start.tasks});
  for (const NodeAllocation& part : start.allocation.nodes) {
    turn.effects.emplace_back(Launch{start.job, attempt, part.node});
  }
}

// A start whose orders no agent would take: its jobs wait for somebody to change that.
void HoldTooLarge(std::span<const PlannedStart> together, Time now, Turn& turn) {
  for (const PlannedStart& start : together) {
    turn.events.emplace_back(JobHeld{start.job, true, now, HoldBy::kOrderTooLarge});
  }
}

Turn On(const ClusterState& state, const TakePlan& input, Time now, const PolicyConfig& config) {
  Turn turn;
  Verifier verifier(state, now);
  StartGate gate(state, config, now);
  bool stale = false;
  for (const PlannedResume& resume : input.plan.resumes) {
    if (verifier.AcceptResume(resume)) {
      Resumed(*state.FindJob(resume.job), now, turn);
    } else {
      stale = true;
    }
  }
  std::span<const PlannedStart> left = input.plan.starts;
  while (!left.empty()) {
    const std::span<const PlannedStart> together = left.first(StartsTogether(state, left));
    left = left.subspan(together.size());
    if (!gate.Admits(together) || !verifier.AcceptTogether(together)) {
      stale = true;
      continue;
    }
    if (!OrdersFit(state.jobs(), together)) {
      HoldTooLarge(together, now, turn);
      stale = true;
      continue;
    }
    for (const PlannedStart& start : together) {
      gate.Count(start.job);
      Start(state, input.plan, start, now, config, turn);
    }
  }
  for (const PlannedPreemption& preemption : input.plan.preemptions) {
    const PlannedStart start{preemption.job, preemption.allocation, "", 0, 0};
    if (!gate.Admits(preemption.job) || !verifier.AcceptPreemption(preemption)) {
      stale = true;
    } else if (!OrdersFit(state.jobs(), {&start, 1})) {
      HoldTooLarge({&start, 1}, now, turn);
      stale = true;
    } else {
      GiveWay(state, preemption, now, turn);
    }
  }
  for (const PlannedResize& resize : input.plan.resizes) {
    if (IsDue(resize, now)) {
      stale = !Resize(state, resize, now, turn) || stale;
    }
  }
  for (const PlannedDrop& drop : input.plan.drops) {
    if (gate.MustDrop(drop)) {
      turn.events.emplace_back(JobEnded{drop.job, drop.state, ExitStatus(), drop.text, now});
      stale = true;  // those that depend on it have an answer now
    }
  }
  if (stale) {
    turn.effects.emplace_back(Replan{});
  }
  return turn;
}

}  // namespace

Turn Step(const ClusterState& state, const Input& input, Time now, const PolicyConfig& config) {
  return std::visit([&](const auto& in) { return On(state, in, now, config); }, input);
}

}  // namespace muster::core
