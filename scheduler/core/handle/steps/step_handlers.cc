#include "scheduler/core/handle/steps/step_handlers.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "scheduler/base/status.h"
#include "scheduler/core/handle/steps/step_placement.h"
#include "scheduler/core/handle/steps/step_queue.h"
#include "scheduler/core/policy/job_access.h"
#include "scheduler/core/state/job_group.h"
#include "scheduler/core/state/tables/attempt.h"
#include "scheduler/model/job/order_limits.h"
#include "scheduler/model/job/program_check.h"
#include "scheduler/model/job/step_io.h"
#include "scheduler/model/value/job_text.h"
#include "scheduler/model/value/wire_size.h"

namespace muster::core {
namespace {

constexpr std::size_t kQueuedStepsMax = 10'000;
constexpr std::uint32_t kSignalMax = 64;
constexpr StepId kRunStep{1};  // of a run job, its own

// The numbers of a step are bounded before anything is made of them.
absl::Status CheckStep(const StepSpec& spec, const SchedulerConfig& config) {
  if (spec.tasks > config.tasks_max || spec.cpus_per_task > Bits::kLimit ||
      spec.nodes > config.nodes_max) {
    return absl::InvalidArgumentError(
        absl::StrCat("the step asks ", spec.tasks, " tasks of ", spec.cpus_per_task, " CPUs on ",
                     spec.nodes, " nodes; at most ", config.tasks_max, ", ", Bits::kLimit, " and ",
                     config.nodes_max, " are allowed"));
  }
  RETURN_IF_ERROR(CheckJobText("--job-name", spec.name, kJobNameBytesMax));
  if (spec.nodelist.size() > config.nodes_max) {
    return absl::InvalidArgumentError("--nodelist: more nodes than are allowed");
  }
  constexpr std::uint32_t kGpusMax = 65'536;
  if (spec.gpus.count > kGpusMax || spec.gpus_per_task.count > kGpusMax) {
    return absl::InvalidArgumentError(
        absl::StrCat("--gpus: more than ", kGpusMax, " are asked for"));
  }
  if (spec.gpus.count > 0 && spec.gpus_per_task.count > 0) {
    return absl::InvalidArgumentError("--gpus: say GPUs once: --gpus or --gpus-per-task");
  }
  if (const std::size_t bytes = WireBytes(spec); bytes > kRequestBytesMax) {
    return absl::InvalidArgumentError(absl::StrCat("the step's request is ", bytes,
                                                   " bytes long; at most ", kRequestBytesMax,
                                                   " are allowed: shorten its lists"));
  }
  return absl::OkStatus();
}

std::string NameOf(JobId job, StepId step) {
  return absl::StrCat("step ", job.value(), ".", step.value());
}

const QueuedStep* FindQueued(const Attempt& attempt, StepId step) {
  const auto found = std::find_if(attempt.queued_steps.begin(), attempt.queued_steps.end(),
                                  [step](const QueuedStep& each) { return each.id == step; });
  return found == attempt.queued_steps.end() ? nullptr : &*found;
}

const StepRun* FindRunning(const Attempt& attempt, StepId step) {
  const auto found = std::find_if(attempt.steps.begin(), attempt.steps.end(),
                                  [step](const StepRun& each) { return each.id == step; });
  return found == attempt.steps.end() ? nullptr : &*found;
}

// The answer to a retry: where the step was placed, or what it waits for; neither once it has
// ended.
Transition AnswerAgain(const ClusterState& state, const TokenOwner& owner) {
  Transition transition;
  transition.job = owner.job;
  transition.step = owner.step;
  const Job* job = state.FindJob(owner.job);
  if (job == nullptr || !job->attempt.has_value()) {
    return transition;
  }
  if (const StepRun* step = FindRunning(*job->attempt, owner.step)) {
    transition.placement = step->placement;
  } else if (FindQueued(*job->attempt, owner.step) != nullptr) {
    transition.waits = "steps before it have what it needs";
  }
  return transition;
}

absl::Status CheckRunning(const Job& job, const char* what) {
  if (!job.attempt.has_value() || IsCompleting(job.state) || IsSuspended(job.state)) {
    return absl::FailedPreconditionError(
        absl::StrCat("job ", ToString(job.id), ": is ", Name(job.state), "; ", what));
  }
  return absl::OkStatus();
}

absl::StatusOr<const Job*> FindJobForStep(const ClusterState& state, const StartStep& command,
                                          const SchedulerConfig& config) {
  const Job* job = state.FindJob(command.job);
  if (job == nullptr) {
    return NoSuchJob(command.job, std::nullopt);
  }
  if (!MayEnter(*job, command.by, config)) {
    return NotYours(*job, command.by);
  }
  RETURN_IF_ERROR(CheckRunning(*job, "a step needs it running"));
  RETURN_IF_ERROR(CheckStep(command.spec, config));
  RETURN_IF_ERROR(CheckProgram(JobKind::kRun, command.program));
  return job;
}

// Puts the step behind those that wait already.
Transition Queue(const Job& job, const StartStep& command, std::string waits, Time now) {
  const Attempt& attempt = *job.attempt;
  if (waits.empty()) {
    waits = absl::StrCat(NameOf(job.id, attempt.queued_steps.back().id), " is to start before it");
  }
  if (command.spec.immediate) {
    return Refused(absl::FailedPreconditionError(
        absl::StrCat("step of job ", ToString(job.id), " would wait: ", waits,
                     "; leave --immediate out to have it wait, or use --overlap")));
  }
  if (attempt.queued_steps.size() >= kQueuedStepsMax) {
    return Refused(absl::ResourceExhaustedError(absl::StrCat(
        "job ", ToString(job.id), ": ", kQueuedStepsMax, " steps of it wait already")));
  }
  Transition transition;
  transition.job = job.id;
  transition.step = attempt.last_step.Next();
  transition.waits = std::move(waits);
  transition.events.emplace_back(StepQueued{job.id, attempt.number, transition.step, command.token,
                                            StepName(command.spec, command.program),
                                            command.program, command.spec, now});
  return transition;
}

// The nodes on which the job has processes that a signal of this scope could reach.
absl::StatusOr<std::vector<NodeId>> Reached(const Job& job, const SignalJob& command) {
  const Attempt& attempt = *job.attempt;
  const bool batch = command.step == StepId() || command.scope == SignalScope::kBatch;
  if (command.step.has_value() && !batch) {
    if (const StepRun* step = FindRunning(attempt, *command.step)) {
      return step->waiting_for;
    }
    if (job.spec->kind != JobKind::kRun || *command.step != kRunStep) {
      return absl::NotFoundError(absl::StrCat(NameOf(job.id, *command.step),
                                              ": no such step runs; see muster show ",
                                              ToString(job.id)));
    }
  }
  if (batch && (job.spec->kind == JobKind::kRun || OffsetOf(job) > 0)) {
    return absl::FailedPreconditionError(
        absl::StrCat("job ", ToString(job.id), ": has no batch script"));
  }
  if (!batch && !command.step.has_value() && command.scope == SignalScope::kSteps &&
      attempt.steps.empty() && job.spec->kind == JobKind::kBatch) {
    return absl::FailedPreconditionError(
        absl::StrCat("job ", ToString(job.id), ": no step of it runs; --batch signals its script, ",
                     "--full everything"));
  }
  std::vector<NodeId> nodes;
  for (std::size_t i = 0; i < (batch ? 1 : attempt.runs.size()); ++i) {
    if (attempt.runs[i].phase != RunPhase::kEnded) {
      nodes.push_back(attempt.allocation.nodes[i].node);
    }
  }
  return nodes;
}

// A step that waits is ended by leaving the queue; a signal finds no process of it.
Transition Withdraw(const ClusterState& state, const Job& job, const SignalJob& command, Time now) {
  if (command.signal != 0) {
    return Refused(absl::FailedPreconditionError(
        absl::StrCat(NameOf(job.id, *command.step), ": waits and has no process; muster cancel ",
                     job.id.value(), ".", command.step->value(), " withdraws it")));
  }
  Transition transition;
  transition.count = 1;
  Job after = job;
  const StepDropped dropped{job.id, job.attempt->number, *command.step,
                            absl::StrCat("cancelled by ", command.by.name), now};
  TakeInStep(*after.attempt, dropped);
  transition.events.emplace_back(dropped);
  StartQueuedSteps(state, after, now, transition);
  return transition;
}

absl::Status SendTo(const ClusterState& state, const Job& job, const SignalJob& command,
                    Transition& transition) {
  ASSIGN_OR_RETURN(const std::vector<NodeId> nodes, Reached(job, command));
  for (const NodeId id : nodes) {
    const Node& node = *state.FindNode(id);
    if (!node.connected) {
      return absl::UnavailableError(absl::StrCat("job ", ToString(job.id), ": its node ", node.name,
                                                 " does not answer: nothing was signalled"));
    }
  }
  const bool batch = command.step == StepId();
  for (const NodeId id : nodes) {
    transition.effects.emplace_back(PassSignal{
        SignalOrder{job.id, job.attempt->number, Epoch(), id, batch ? std::nullopt : command.step,
                    command.signal, batch ? SignalScope::kBatch : command.scope}});
  }
  ++transition.count;
  return absl::OkStatus();
}

absl::StatusOr<StepId> StepToShow(const Job& job, const AttachStep& command) {
  const Attempt& attempt = *job.attempt;
  const bool run = job.spec->kind == JobKind::kRun;
  if (command.step.has_value()) {
    if (FindRunning(attempt, *command.step) == nullptr && !(run && *command.step == kRunStep)) {
      return absl::NotFoundError(absl::StrCat(NameOf(job.id, *command.step),
                                              ": no such step runs; see muster show ",
                                              ToString(job.id)));
    }
    return *command.step;
  }
  if (run) {
    return kRunStep;
  }
  if (attempt.steps.empty()) {
    return absl::FailedPreconditionError(
        absl::StrCat("job ", ToString(job.id),
                     ": no step of it runs, and its script writes to a "
                     "file; see muster show ",
                     ToString(job.id)));
  }
  if (attempt.steps.size() > 1) {
    return absl::FailedPreconditionError(absl::StrCat(
        "job ", ToString(job.id), ": ", attempt.steps.size(), " steps of it run; name one, like ",
        job.id.value(), ".", attempt.steps.front().id.value()));
  }
  return attempt.steps.front().id;
}

}  // namespace

Transition On(const ClusterState& state, const StartStep& command, Time now,
              const SchedulerConfig& config) {
  if (absl::Status token = CheckToken(command.token); !token.ok()) {
    return Refused(std::move(token));
  }
  if (const TokenOwner* owner = state.FindToken(command.token)) {
    return AnswerAgain(state, *owner);
  }
  const absl::StatusOr<const Job*> found = FindJobForStep(state, command, config);
  if (!found.ok()) {
    return Refused(found.status());
  }
  const Job& job = **found;
  absl::StatusOr<StepPlace> place = PlaceStep(state, job, command.spec);
  if (!place.ok()) {
    return Refused(place.status());
  }
  const Attempt& attempt = *job.attempt;
  if (place->placement.nodes.empty() || (!command.spec.overlap && !attempt.queued_steps.empty())) {
    return Queue(job, command, std::move(place->waits), now);
  }
  Transition transition;
  transition.job = job.id;
  transition.step = attempt.last_step.Next();
  transition.placement = place->placement;
  StepStarted started;
  started.job = job.id;
  started.attempt = attempt.number;
  started.step = transition.step;
  started.token = command.token;
  started.name = StepName(command.spec, command.program);
  started.program = command.program;
  started.time = now;
  BeginStep(std::move(started), command.spec, std::move(place->placement), transition);
  return transition;
}

Transition On(const ClusterState& state, const SignalJob& command, Time now,
              const SchedulerConfig& config) {
  if (command.signal > kSignalMax || (command.signal == 0 && !command.step.has_value())) {
    return Refused(absl::InvalidArgumentError(
        absl::StrCat("--signal: ", command.signal, " is not a signal; use 1 to ", kSignalMax)));
  }
  const std::vector<const Job*> jobs = state.FindJobs(command.job, command.array_index);
  if (jobs.empty()) {
    return Refused(NoSuchJob(command.job, command.array_index));
  }
  if (command.step.has_value() && jobs.size() > 1) {
    return Refused(absl::InvalidArgumentError(
        absl::StrCat("job ", ToString(command.job), ": is an array; name an element's step, like ",
                     command.job.value(), "_0.", command.step->value())));
  }
  Transition transition;
  absl::Status last;
  for (const Job* job : jobs) {
    if (!MayChange(*job, command.by, config, state.policy().site())) {
      return Refused(NotYours(*job, command.by));
    }
    absl::Status may = job->attempt.has_value()
                           ? absl::OkStatus()
                           : absl::FailedPreconditionError(
                                 absl::StrCat("job ", ToString(job->id), ": is ", Name(job->state),
                                              "; only what runs can be signalled"));
    if (may.ok() && command.step.has_value() &&
        FindQueued(*job->attempt, *command.step) != nullptr) {
      return Withdraw(state, *job, command, now);
    }
    if (may.ok()) {
      may = SendTo(state, *job, command, transition);
    }
    last.Update(may);
  }
  // Of an array, the elements that run are signalled and the others left as they are.
  return transition.count == 0 ? Refused(std::move(last)) : transition;
}

Transition On(const ClusterState& state, const AttachStep& command, Time, const SchedulerConfig&) {
  const std::vector<const Job*> jobs = state.FindJobs(command.job, command.array_index);
  if (jobs.empty()) {
    return Refused(NoSuchJob(command.job, command.array_index));
  }
  const Job& job = *jobs.front();
  if (command.by.uid != job.spec->user.uid) {
    return Refused(NotYours(job, command.by));
  }
  if (absl::Status io = CheckStepIo(command.io); !io.ok()) {
    return Refused(std::move(io));
  }
  absl::Status may = jobs.size() > 1
                         ? absl::InvalidArgumentError(absl::StrCat(
                               "job ", ToString(command.job),
                               ": is an array; name an element, like ", command.job.value(), "_0"))
                         : CheckRunning(job, "attach needs it running");
  absl::StatusOr<StepId> step = may.ok() ? StepToShow(job, command) : std::move(may);
  if (!step.ok()) {
    return Refused(step.status());
  }
  Transition transition;
  transition.job = job.id;
  transition.step = *step;
  const StepRun* running = FindRunning(*job.attempt, *step);
  transition.placement = running != nullptr ? running->placement : job.attempt->allocation;
  std::erase_if(transition.placement.nodes, [&](const NodeAllocation& part) {
    return part.ranks.empty() ||
           job.attempt->runs[*RunOn(*job.attempt, part.node)].phase == RunPhase::kEnded ||
           (running != nullptr &&
            std::find(running->waiting_for.begin(), running->waiting_for.end(), part.node) ==
                running->waiting_for.end());
  });
  for (const NodeAllocation& part : transition.placement.nodes) {
    transition.effects.emplace_back(ShowStep{AttachOrder{
        job.id, job.attempt->number, Epoch(), part.node, *step, command.io, command.input}});
  }
  return transition;
}

}  // namespace muster::core
