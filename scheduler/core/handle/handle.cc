#include "scheduler/core/handle/handle.h"

#include <algorithm>
#include <set>
#include <span>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "scheduler/base/status.h"
#include "scheduler/core/handle/alert_handlers.h"
#include "scheduler/core/handle/attempts/attempt_end.h"
#include "scheduler/core/handle/attempts/checkpoint_handlers.h"
#include "scheduler/core/handle/attempts/elastic_handlers.h"
#include "scheduler/core/handle/attempts/suspend_handlers.h"
#include "scheduler/core/handle/job_handlers.h"
#include "scheduler/core/handle/nodes/agent_handlers.h"
#include "scheduler/core/handle/nodes/drain_handlers.h"
#include "scheduler/core/handle/nodes/forget_handlers.h"
#include "scheduler/core/handle/nodes/health_handlers.h"
#include "scheduler/core/handle/nodes/mig_handlers.h"
#include "scheduler/core/handle/nodes/power_handlers.h"
#include "scheduler/core/handle/nodes/reboot_handlers.h"
#include "scheduler/core/handle/policy_handlers.h"
#include "scheduler/core/handle/start_check.h"
#include "scheduler/core/handle/steps/step_handlers.h"
#include "scheduler/core/handle/submit/dependency_check.h"
#include "scheduler/core/handle/submit/group_submission.h"
#include "scheduler/core/handle/submit/never_fits.h"
#include "scheduler/core/handle/submit/new_job.h"
#include "scheduler/core/handle/submit/recurring_job.h"
#include "scheduler/core/handle/submit/user_jobs.h"
#include "scheduler/core/handle/submit/validate.h"
#include "scheduler/core/handle/verify.h"
#include "scheduler/core/place/order_size.h"
#include "scheduler/core/policy/admission.h"
#include "scheduler/core/policy/deadline.h"
#include "scheduler/core/policy/job_access.h"
#include "scheduler/core/share/billing.h"
#include "scheduler/core/state/job_group.h"
#include "scheduler/core/state/tables/node_use.h"
#include "scheduler/core/state/tables/usage_keys.h"
#include "scheduler/model/job/array.h"
#include "scheduler/model/job/program_check.h"
#include "scheduler/model/plan/plan.h"
#include "scheduler/model/value/fingerprint.h"

namespace muster::core {
namespace {

// What happened since the copy was made is not known: an agent may have obeyed a newer epoch, a
// number may have been given out, a job may run or have run. So no epoch and no number comes twice,
// and no job starts, and none on a node that is known, before somebody has looked.
void BeginRestored(const ClusterState& state, EpochBegan began, Transition& transition) {
  began.epoch = Epoch(began.epoch.value() + kEpochsSkipped);
  began.next_job = JobId(state.next_job().value() + kJobsSkipped);
  transition.events.emplace_back(began);
  for (const auto& [id, job] : state.jobs()) {
    if (!job.held || job.held_by != HoldBy::kAdmin) {
      transition.events.emplace_back(JobHeld{id, true, began.time, HoldBy::kRestored});
    }
  }
  for (const auto& [id, node] : state.nodes()) {
    if (!node.drained) {
      transition.events.emplace_back(
          NodeDrained{id, true,
                      "the controller's state was restored from a copy; resume it once its agent "
                      "is back",
                      began.time});
    }
  }
}

Transition On(const ClusterState& state, const BeginEpoch& command, Time now,
              const SchedulerConfig& config) {
  Transition transition;
  const EpochBegan began{state.epoch().Next(), now, config.priority.half_life};
  if (command.restored) {
    BeginRestored(state, began, transition);
  } else {
    transition.events.emplace_back(began);
  }
  transition.effects.emplace_back(Replan{});
  for (const auto& [id, power] : state.power().nodes()) {  // whoever was told may have forgotten
    if (power.state == PowerState::kPoweringDown || power.state == PowerState::kPoweringUp) {
      transition.effects.emplace_back(SwitchPower{id, power.state == PowerState::kPoweringUp});
    }
  }
  return transition;
}

// A held job waits for nobody and nothing but its release, unless time may end it.
bool MayMatter(const JobSpec& spec) {
  return !spec.held || spec.deadline != kNoTime || !spec.dependency.terms.empty();
}

// A job that the nodes can never hold is refused, or taken with a remark.
absl::Status CheckFit(const ClusterState& state, const JobSpec& spec, const std::string& which,
                      const SubmitJob& command, const SchedulerConfig& config,
                      Transition& transition) {
  const std::optional<Reason> never = WhyNeverFits(state, spec, config.power);
  if (!never.has_value()) {
    return absl::OkStatus();
  }
  const std::string why = absl::StrCat(which, ToSentence(*never));
  if (command.refuse_misfit) {
    return absl::FailedPreconditionError(absl::StrCat(Name(never->kind), ": ", why));
  }
  transition.remark = transition.remark.empty() ? why : transition.remark;
  return absl::OkStatus();
}

// A heterogeneous job, of which no component may be misfit alone.
Transition TakeGroup(const ClusterState& state, const SubmitJob& command, Time now,
                     const SchedulerConfig& config) {
  absl::StatusOr<JobSubmitted> group = AcceptGroup(state, command, now, config);
  if (!group.ok()) {
    return Refused(group.status());
  }
  Transition transition;
  absl::Status fits = CheckFit(state, group->spec, "component 0: ", command, config, transition);
  for (std::size_t i = 0; i < group->components.size(); ++i) {
    fits.Update(CheckFit(state, group->components[i].spec, absl::StrCat("component ", i + 1, ": "),
                         command, config, transition));
  }
  if (!fits.ok()) {
    return Refused(std::move(fits));
  }
  transition.job = group->first;
  if (MayMatter(group->spec)) {
    transition.effects.emplace_back(Replan{});
  }
  transition.events.emplace_back(*std::move(group));
  return transition;
}

// What follows from what was asked.
absl::StatusOr<JobSpec> Complete(const ClusterState& state, const SubmitJob& command,
                                 const SchedulerConfig& config) {
  JobSpec asked = command.spec;
  RETURN_IF_ERROR(FillGpuShares(state, asked));
  RETURN_IF_ERROR(BeginNew({asked.user, command.by_operator, {}}, config, asked));
  RETURN_IF_ERROR(AddChoices(config, asked));
  return Normalise(std::move(asked), config);
}

Transition On(const ClusterState& state, const SubmitJob& command, Time now,
              const SchedulerConfig& config) {
  if (absl::Status token = CheckToken(command.token); !token.ok()) {
    return Refused(std::move(token));
  }
  Transition transition;
  if (const TokenOwner* owner = state.FindToken(command.token)) {
    transition.job = owner->job;
    return transition;
  }
  if (!command.components.empty()) {
    return TakeGroup(state, command, now, config);
  }
  absl::StatusOr<JobSpec> spec = Complete(state, command, config);
  if (!spec.ok()) {
    return Refused(spec.status());
  }
  if (absl::Status grace = CheckGrace(command.spec, config); !grace.ok()) {
    return Refused(std::move(grace));
  }
  if (absl::Status recurring = FillRecurring(now, *spec); !recurring.ok()) {
    return Refused(std::move(recurring));
  }
  if (absl::Status program = CheckProgram(spec->kind, command.program); !program.ok()) {
    return Refused(std::move(program));
  }
  if (absl::Status dependency = CheckDependencyNow(state.jobs(), *spec, command.history, now);
      !dependency.ok()) {
    return Refused(std::move(dependency));
  }
  if (!CanMeetDeadline(*spec, std::max(now, spec->begin))) {
    return Refused(absl::InvalidArgumentError(
        "--deadline: the job could not end by then, with its --begin and --time"));
  }
  const std::uint64_t count = spec->array.has_value() ? ElementCount(*spec->array) : 1;
  const Submission submission{count, command.spec.time_limit.count() > 0, now};
  if (absl::Status few = CheckUserJobs(state.jobs(), spec->user.name, count, config); !few.ok()) {
    return Refused(std::move(few));
  }
  if (absl::Status admitted = Admit(state.policy().snapshot(), submission, &*spec);
      !admitted.ok()) {
    return Refused(std::move(admitted));
  }
  if (absl::Status fits = CheckFit(state, *spec, "", command, config, transition); !fits.ok()) {
    return Refused(std::move(fits));
  }
  transition.job = state.next_job();
  if (MayMatter(*spec)) {
    transition.effects.emplace_back(Replan{});
  }
  transition.events.emplace_back(JobSubmitted{transition.job,
                                              static_cast<std::uint32_t>(count),
                                              command.token,
                                              *std::move(spec),
                                              command.program,
                                              now,
                                              command.history,
                                              {}});
  return transition;
}

// Ends one job, or untouched elements of an array: at once while it waits, else through its nodes.
void Cancel(const Job& job, std::uint32_t count, const User& by, Time now, Transition& transition) {
  const std::string text = absl::StrCat("cancelled by ", by.name);
  transition.count += count;
  if (!job.attempt.has_value()) {
    transition.events.emplace_back(
        JobEnded{job.id, JobState::kCancelled, ExitStatus(), text, now, count - 1});
    return;
  }
  const bool tells =
      job.attempt->ending == EndCause::kNone || job.attempt->ending == EndCause::kRequeued ||
      job.attempt->ending == EndCause::kPreempted ||
      job.attempt->ending == EndCause::kPreemptedToRequeue ||
      job.attempt->ending == EndCause::kResized || job.attempt->ending == EndCause::kLaunchFailed;
  if (tells) {
    EndAttempt(job, {EndCause::kCancelled, text}, now, transition);
  } else {
    OrderActions(job, transition);
  }
}

Transition On(const ClusterState& state, const CancelJob& command, Time now,
              const SchedulerConfig& config) {
  if (const Job* job = state.FindJob(command.job)) {
    if (absl::Status whole = NamesWhole(*job, command.job); !whole.ok()) {
      return Refused(std::move(whole));
    }
  }
  Transition transition;
  absl::Status may;
  const auto cancel = [&](const Job& job, std::uint32_t count) {
    if (!MayChange(job, command.by, config, state.policy().site())) {
      may.Update(NotYours(job, command.by));
    } else {
      Cancel(job, count, command.by, now, transition);
    }
  };
  if (!command.array_index.has_value()) {
    state.jobs().ForEachOf(command.job, cancel);
  } else {
    for (const Job* element : state.FindJobs(command.job, command.array_index)) {
      cancel(*element, 1);
    }
  }
  if (!may.ok()) {
    return Refused(std::move(may));
  }
  if (transition.count == 0) {
    return Refused(NoSuchJob(command.job, command.array_index));
  }
  transition.effects.emplace_back(Replan{});
  return transition;
}

// It ends to wait again, so it can be held meanwhile.
bool GoesBack(const Job& job) {
  const EndCause ending = job.attempt.has_value() ? job.attempt->ending : EndCause::kNone;
  return ending == EndCause::kRequeued || ending == EndCause::kPreemptedToRequeue;
}

// What an operator or a coordinator has held is not its owner's to release; what was held because
// of a restoration, an operator's alone.
bool MayRelease(const Job& job, const Actor& by, const SchedulerConfig& config) {
  const bool others = job.held_by == HoldBy::kAdmin && by.uid != job.spec->user.uid;
  return IsOperator(by, config) || !IsOfOperators(job.held_by) || others;
}

Transition On(const ClusterState& state, const HoldJob& command, Time now,
              const SchedulerConfig& config) {
  const auto jobs = FindWhole(state, command.job, command.array_index);
  if (!jobs.ok()) {
    return Refused(jobs.status());
  }
  const bool group_goes_back =
      IsComponent(*jobs->front()) &&
      std::any_of(jobs->begin(), jobs->end(), [](const Job* job) { return GoesBack(*job); });
  Transition transition;
  for (const Job* job : *jobs) {
    if (!MayChange(*job, command.by, config, state.policy().site())) {
      return Refused(NotYours(*job, command.by));
    }
    const bool released = job->held && !command.held;  // what runs may be held since a restoration
    if (IsWaiting(job->state) || GoesBack(*job) || group_goes_back || released) {
      if (released && !MayRelease(*job, command.by, config)) {
        return Refused(absl::PermissionDeniedError(absl::StrCat(
            "job ", ToString(job->id), ": held by the operator, who alone can release it")));
      }
      ++transition.count;
      const HoldBy by = command.by.uid == job->spec->user.uid ? HoldBy::kUser : HoldBy::kAdmin;
      if (job->held != command.held) {
        transition.events.emplace_back(JobHeld{job->id, command.held, now, by});
      }
    }
  }
  if (transition.count == 0) {
    return Refused(absl::FailedPreconditionError(
        absl::StrCat("job ", core::Label(command.job, command.array_index),
                     ": has started; only waiting jobs are held")));
  }
  transition.effects.emplace_back(Replan{});
  return transition;
}

// Tells the victims to end, or to give their cores back.
void GiveWay(const ClusterState& state, const PlannedPreemption& preemption, Time now,
             Transition& transition) {
  const std::string text = absl::StrCat("preempted by job ", ToString(preemption.job));
  for (const PlannedVictim& victim : preemption.victims) {
    if (victim.suspend) {
      Suspended(*state.FindJob(victim.job), SuspendedBy::kPreemption, text, now, transition);
      continue;
    }
    const EndCause cause = victim.requeue ? EndCause::kPreemptedToRequeue : EndCause::kPreempted;
    EndAttempt(*state.FindJob(victim.job), {cause, text}, now, transition);
  }
}

BillingRate BillingOf(const ClusterState& state, const PlannedStart& start,
                      const SchedulerConfig& config) {
  TresUse held;
  for (const NodeAllocation& part : start.allocation.nodes) {
    AddUse(held, part, *state.FindNode(part.node)->machine);
  }
  const Qos* qos =
      FindQos(state.policy().site(), EffectiveQos(state.FindJob(start.job)->spec->qos));
  constexpr std::uint32_t kWhole = 1000;
  return core::BillingOf(held, qos == nullptr ? kWhole : qos->usage_factor, config.priority);
}

void Start(const ClusterState& state, const Plan& plan, const PlannedStart& start, Time now,
           const SchedulerConfig& config, Transition& transition) {
  const AttemptNumber attempt = NextAttempt(state, *state.FindJob(start.job));
  transition.events.emplace_back(
      AttemptStarted{start.job, attempt, start.allocation, now, plan.hash, start.partition,
                     BillingOf(state, start, config), start.alternative, start.tasks});
  for (const NodeAllocation& part : start.allocation.nodes) {
    transition.effects.emplace_back(Launch{start.job, attempt, part.node});
  }
}

// A start whose orders no agent would take: its jobs wait for somebody to change that.
void HoldTooLarge(std::span<const PlannedStart> together, Time now, Transition& transition) {
  for (const PlannedStart& start : together) {
    transition.events.emplace_back(JobHeld{start.job, true, now, HoldBy::kOrderTooLarge});
  }
}

// The latest starts of jobs that still wait.
void Promise(const ClusterState& state, const Plan& plan, Time now, Transition& transition) {
  for (std::size_t i = 0; i < plan.promises.size(); ++i) {
    const PlannedPromise& promise = plan.promises[i];
    const bool is_last = i + 1 == plan.promises.size() || plan.promises[i + 1].job != promise.job;
    const Job* job = state.FindJob(promise.job);
    if (is_last && job != nullptr && IsWaiting(job->state) && job->promised != promise.by) {
      transition.events.emplace_back(StartPromised{promise.job, promise.by, now});
    }
  }
}

// Takes a plan part by part, each as far as it still holds.
class PlanTaker {
 public:
  PlanTaker(const ClusterState& state, const Plan& plan, Time now, const SchedulerConfig& config)
      : state_(state),
        plan_(plan),
        now_(now),
        config_(config),
        verifier_(state, now, config.network.get()),
        gate_(state, config, now) {}

  Transition Take() {
    TakeResumes();
    Promise(state_, plan_, now_, transition_);
    TakeStarts();
    TakePreemptions();
    TakeResizes();
    TakeDrops();
    if (stale_) {
      transition_.effects.emplace_back(Replan{});
    }
    return std::move(transition_);
  }

 private:
  void TakeResumes() {
    for (const PlannedResume& resume : plan_.resumes) {
      if (verifier_.AcceptResume(resume)) {
        Resumed(*state_.FindJob(resume.job), now_, transition_);
      } else {
        stale_ = true;
      }
    }
  }

  void TakeStarts() {
    std::span<const PlannedStart> left = plan_.starts;
    while (!left.empty()) {
      const std::span<const PlannedStart> together = left.first(StartsTogether(state_, left));
      left = left.subspan(together.size());
      if (!gate_.Admits(together) || !verifier_.AcceptTogether(together)) {
        stale_ = true;
        continue;
      }
      if (!OrdersFit(state_.jobs(), together)) {
        HoldTooLarge(together, now_, transition_);
        stale_ = true;
        continue;
      }
      for (const PlannedStart& start : together) {
        gate_.Count(start.job);
        Start(state_, plan_, start, now_, config_, transition_);
      }
    }
  }

  void TakePreemptions() {
    for (const PlannedPreemption& preemption : plan_.preemptions) {
      const PlannedStart start{preemption.job, preemption.allocation, "", 0, 0};
      if (!gate_.Admits(preemption.job) || !verifier_.AcceptPreemption(preemption)) {
        stale_ = true;
      } else if (!OrdersFit(state_.jobs(), {&start, 1})) {
        HoldTooLarge({&start, 1}, now_, transition_);
        stale_ = true;
      } else {
        GiveWay(state_, preemption, now_, transition_);
      }
    }
  }

  void TakeResizes() {
    for (const PlannedResize& resize : plan_.resizes) {
      if (IsDue(resize, now_)) {
        stale_ = !Resize(state_, resize, now_, transition_) || stale_;
      }
    }
  }

  void TakeDrops() {
    std::set<JobId> dropped;
    for (const PlannedDrop& drop : plan_.drops) {
      if (gate_.MustDrop(drop) && dropped.insert(drop.job).second) {
        transition_.events.emplace_back(
            JobEnded{drop.job, drop.state, ExitStatus(), drop.text, now_});
        stale_ = true;  // those that depend on it have an answer now
      }
    }
  }

  const ClusterState& state_;
  const Plan& plan_;
  const Time now_;
  const SchedulerConfig& config_;
  Verifier verifier_;
  StartGate gate_;
  Transition transition_;
  bool stale_ = false;  // a part of it is void: another plan is wanted
};

Transition On(const ClusterState& state, const TakePlan& command, Time now,
              const SchedulerConfig& config) {
  return PlanTaker(state, command.plan, now, config).Take();
}

}  // namespace

Transition Handle(const ClusterState& state, const Command& command, Time now,
                  const SchedulerConfig& config) {
  return std::visit([&](const auto& in) { return On(state, in, now, config); }, command);
}

}  // namespace muster::core
