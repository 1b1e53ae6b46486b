#include "scheduler/simulator/questions/aimed_commands.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <iterator>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "scheduler/base/text/time_text.h"
#include "scheduler/core/mig/mig_layout.h"
#include "scheduler/core/state/tables/attempt.h"
#include "scheduler/model/value/start_code.h"
#include "scheduler/simulator/workload/draws.h"
#include "scheduler/simulator/workload/rare_wishes.h"
#include "scheduler/simulator/workload/spoiling.h"
#include "scheduler/simulator/workload/wishes.h"

namespace muster::sim {
namespace {

Actor AnOperator() {
  return Actor(User{0, 0, "root"});
}

// Null where there is none.
template <class Holds>
const Job* SomeJob(const core::ClusterState& state, RandomSequence& random, Holds holds) {
  std::vector<JobId> found;
  for (const auto& [id, job] : state.jobs()) {
    if (holds(job)) {
      found.push_back(id);
    }
  }
  const std::size_t at =
      Chance(random, 500) ? 0 : random.Below(std::max<std::size_t>(found.size(), 1));
  return found.empty() ? nullptr : state.FindJob(found[at]);
}

bool HoldsNodes(const Job& job) {
  return job.attempt.has_value();
}

// What the nodes of the state are like, for who draws a wish.
WishList WishesOf(const core::ClusterState& state) {
  WishList list;
  list.nodes = std::max(static_cast<std::uint32_t>(state.nodes().size()), 1U);
  list.cpus_per_node = 8;
  list.gpus_per_node = 4;
  list.memory_per_node = kGibibyte * 16;
  return list;
}

// Reports.

RunEnded DrawEnd(const Job& job, Time now, RandomSequence& random) {
  RunEnded ended;
  ended.time = now;
  ended.cause =
      OneOf(random, {EndCause::kExited, EndCause::kExited, EndCause::kExited, EndCause::kCancelled,
                     EndCause::kTimeLimit, EndCause::kLaunchFailed, EndCause::kLaunchFailed,
                     EndCause::kLostSupervisor, EndCause::kNodeRebooted, EndCause::kNeverStarted,
                     EndCause::kOutOfMemory, EndCause::kJobEnding, EndCause::kPrologFailed,
                     EndCause::kHung, EndCause::kResized, EndCause::kPreempted});
  ended.status = OneOf(random, {ExitStatus(), ExitStatus(), ExitStatus{1, 0}, ExitStatus{0, 15},
                                ExitStatus{kTryAgainCode, 0},
                                ExitStatus{static_cast<std::int32_t>(job.spec->requeue_exit), 0}});
  ended.node_fault = Chance(random, 50) ? "its epilog failed" : "";
  ended.text = Chance(random, 200) ? "as its node saw it" : "";
  return ended;
}

CheckpointRecord DrawCheckpoint(const Attempt& attempt, const CheckpointRecord& before, Time now,
                                RandomSequence& random) {
  CheckpointRecord next = before;
  if (Chance(random, 200)) {
    next.restart = std::chrono::seconds(1);
    return next;
  }
  next.count += Chance(random, 800) ? 1 : 0;
  next.begun = next.committed = now;
  next.cost = std::chrono::seconds(Draw(random, 5));
  next.slow = std::chrono::seconds(Draw(random, 3));
  next.flush = std::chrono::seconds(Draw(random, 3));
  next.notice = attempt.advice.number + Draw(random, 2);
  next.failed = Chance(random, 100) ? 1 : 0;
  return next;
}

BindingRead DrawBindings(const Attempt& attempt, std::size_t run, Time now,
                         RandomSequence& random) {
  constexpr BindingVerdict kVerdicts[] = {BindingVerdict::kVerified, BindingVerdict::kDiffers,
                                          BindingVerdict::kNotEnforced,
                                          BindingVerdict::kUnreadable};
  BindingRead read;
  read.time = now;
  const StepId step = StepId(Draw(random, attempt.last_step.value() + 1));
  const std::uint32_t ranks = Chance(random, 100) ? 300 : 1 + Draw(random, 4);
  for (std::uint32_t i = 0; i < ranks; ++i) {
    RankBinding binding;
    binding.step = step;
    binding.rank = i;
    binding.cpus = attempt.allocation.nodes[run].cpus;
    binding.verdict = kVerdicts[random.Below(std::size(kVerdicts))];
    read.ranks.push_back(std::move(binding));
  }
  return read;
}

Fact DrawFact(const Job& job, std::size_t run, Time now, RandomSequence& random) {
  const Attempt& attempt = *job.attempt;
  switch (random.Below(12)) {
    case 0:
    case 1: {
      RunStarted started;
      started.time = now;
      started.image = job.spec->container.given() ? "sha256:0" : "";
      return started;
    }
    case 2:
      return BindingRead(DrawBindings(attempt, run, now, random));
    case 3:
    case 4:
      return RunSuspended{now, attempt.suspension + (Chance(random, 150) ? 1 : 0),
                          attempt.suspension % 2 == 0};
    case 5:
      return RunCheckpointed{now,
                             DrawCheckpoint(attempt, attempt.runs[run].checkpoints, now, random)};
    case 6:
    case 7: {
      StepEnded ended;
      ended.time = now;
      ended.step = attempt.steps.empty() ? StepId(Draw(random, 5))
                                         : attempt.steps[random.Below(attempt.steps.size())].id;
      return ended;
    }
    default:
      return DrawEnd(job, now, random);
  }
}

// The next report of a node of the job.
Command DrawReport(const Job& job, Time now, RandomSequence& random) {
  const Attempt& attempt = *job.attempt;
  std::size_t run = random.Below(attempt.runs.size());
  for (std::size_t i = 0; i < attempt.runs.size() && attempt.runs[run].phase == RunPhase::kEnded;
       ++i) {
    run = (run + 1) % attempt.runs.size();
  }
  Report report;
  report.job = job.id;
  report.attempt = attempt.number;
  report.index = attempt.runs[run].reported + 1;
  report.fact = DrawFact(job, run, now, random);
  return TakeReport{attempt.allocation.nodes[run].node, std::move(report)};
}

// Registrations.

// What the agent has of the jobs that the state has there; some of it is another's by now.
void AddKnown(const core::ClusterState& state, const Node& node, RandomSequence& random,
              Registration* registration) {
  for (const JobId id : state.JobsOn(node.id)) {
    const Job& job = *state.FindJob(id);
    const std::optional<std::size_t> run = core::RunOn(*job.attempt, node.id);
    if (!run.has_value() || Chance(random, 250)) {
      continue;
    }
    KnownAttempt known{id, job.attempt->number, Chance(random, 150),
                       job.attempt->allocation.nodes[*run],
                       HoldsCores(*job.attempt) ? Chance(random, 50) : Chance(random, 600)};
    if (Chance(random, 200)) {  // of a job that the state has not, or not yet
      KnownAttempt other = known;
      other.frozen = false;
      if (Chance(random, 500)) {
        other.attempt = other.attempt.Next();
      } else {
        other.job = JobId(1 + random.Below(state.next_job().value()));
      }
      registration->attempts.push_back(std::move(other));
    }
    registration->attempts.push_back(std::move(known));
  }
  for (const QuarantinedAttempt& kept : node.quarantined) {
    if (Chance(random, 600)) {
      registration->attempts.push_back(
          KnownAttempt{kept.job, kept.attempt, Chance(random, 300), kept.allocation, false});
    }
  }
}

Command DrawRegistration(const core::ClusterState& state, const Node& node,
                         RandomSequence& random) {
  Registration registration;
  registration.name = node.name;
  registration.hostname = node.hostname;
  registration.instance = Chance(random, 150) ? node.instance + "+" : node.instance;
  registration.boot_id = Chance(random, 150) ? node.boot_id + "+" : node.boot_id;
  // An agent that has not been there since the state was restored has seen an older epoch.
  registration.epoch_seen = Chance(random, 500) || state.epoch().value() <= kEpochsSkipped
                                ? state.epoch()
                                : Epoch(state.epoch().value() - kEpochsSkipped);
  registration.machine = *node.machine;
  if (Chance(random, 100) && !registration.machine.mig.empty()) {
    registration.machine.mig.pop_back();
  }
  registration.features = node.features;
  registration.weight = node.weight;
  for (const GpuLayout& layout : node.gpu_layouts) {
    if (layout.phase == LayoutPhase::kOrdered && Chance(random, 700)) {
      registration.layout = {layout.number, Chance(random, 300) ? "the driver refuses" : ""};
    }
  }
  AddKnown(state, node, random, &registration);
  return RegisterAgent{std::move(registration)};
}

// Of jobs that run.

SignalJob DrawSignal(const Job& job, RandomSequence& random) {
  SignalJob signal;
  signal.job = job.id;
  signal.by = AnOperator();
  signal.signal = Chance(random, 300) ? 0 : 1 + Draw(random, 15);
  signal.scope = static_cast<SignalScope>(random.Below(3));
  const Attempt& attempt = *job.attempt;
  if (Chance(random, 500)) {
    signal.step = Chance(random, 300)            ? StepId(Draw(random, 3))
                  : !attempt.steps.empty()       ? attempt.steps.front().id
                  : attempt.queued_steps.empty() ? StepId(1)
                                                 : attempt.queued_steps.back().id;
    if (!attempt.queued_steps.empty() && Chance(random, 400)) {
      signal.step = attempt.queued_steps.front().id;
    }
  }
  return signal;
}

AttachStep DrawAttach(const Job& job, RandomSequence& random) {
  AttachStep attach{job.id, {}, {}, StepIo{"127.0.0.1:7000", std::string(32, 'a')}, false, {}};
  attach.by = job.spec->user;
  if (Chance(random, 500)) {
    attach.step = job.attempt->steps.empty() || Chance(random, 300) ? StepId(Draw(random, 3))
                                                                    : job.attempt->steps.back().id;
  }
  return attach;
}

UpdateJob DrawNewLimit(const Job& job, Time now, RandomSequence& random) {
  UpdateJob update;
  update.job = job.id;
  update.by = Chance(random, 600) ? AnOperator() : Actor(job.spec->user);
  update.force = Chance(random, 300);
  const Duration used = HoldsNodes(job) ? now - job.attempt->started : Duration(0);
  update.changes.time_limit =
      OneOf<Duration>(random, {used + std::chrono::seconds(30), used + std::chrono::minutes(10),
                               used + std::chrono::hours(2), std::chrono::seconds(1),
                               std::chrono::hours(24 * 36525)});
  return update;
}

UpdateJob DrawUpdateOf(const core::ClusterState& state, const Job& job, Time now,
                       RandomSequence& random) {
  UpdateJob update;
  update.job = job.id;
  update.by = AnOperator();
  std::vector<JobId> others;
  for (const auto& [id, other] : state.jobs()) {
    others.push_back(other.submission);
  }
  update.changes = DrawUpdate(WishesOf(state), others, now, random);
  if (Chance(random, 300)) {
    update.changes = JobUpdate();
    update.changes.options = {"every"};
    update.changes.asked = *job.spec;
    update.changes.asked->every = OneOf<std::string>(random, {"", "* * * * *", "0 0 30 2 *"});
  }
  return update;
}

// Any partition and any QOS that there are.
void NameRules(const SitePolicy& site, RandomSequence& random, JobSpec* spec) {
  const auto any = [&random](const auto& objects) {
    return std::next(objects.begin(), static_cast<std::ptrdiff_t>(random.Below(objects.size())))
        ->first;
  };
  if (!site.partitions.empty() && Chance(random, 600)) {
    spec->partition = any(site.partitions);
  }
  if (!site.qos.empty() && Chance(random, 500)) {
    spec->qos = any(site.qos);
  }
  if (!site.accounts.empty() && Chance(random, 700)) {
    spec->account = any(site.accounts);
  }
}

Command DrawHealthNews(const core::ClusterState& state, const Node& node, RandomSequence& random) {
  HealthReport report;
  report.number = state.health().Of(node.id).number;
  report.outcome = static_cast<HealthOutcome>(random.Below(3));
  report.figures = {
      {"memory bandwidth", "GB/s", HealthSense::kHigher,
       OneOf<std::uint64_t>(random, {200'000, 201'000, 90'000}), 210'000},
      {"memory errors", "", HealthSense::kNever, Chance(random, 100) ? 1'000ULL : 0, 0}};
  return TakeHealthReport{node.id, std::move(report)};
}

}  // namespace

const Job* DrawJob(const core::ClusterState& state, RandomSequence& random) {
  return SomeJob(state, random, [](const Job&) { return true; });
}

const Node* DrawNode(const core::ClusterState& state, RandomSequence& random) {
  const auto& nodes = state.nodes();
  return nodes.empty()
             ? nullptr
             : &std::next(nodes.begin(), static_cast<std::ptrdiff_t>(random.Below(nodes.size())))
                    ->second;
}

const Job* DrawHolder(const core::ClusterState& state, RandomSequence& random) {
  return SomeJob(state, random, HoldsNodes);
}

std::vector<Command> ReportsOfAll(const Job& job, Time now, RandomSequence& random) {
  const Attempt& attempt = *job.attempt;
  const std::uint64_t what = random.Below(4);
  std::vector<Command> reports;
  for (std::size_t i = 0; i < attempt.runs.size(); ++i) {
    if (attempt.runs[i].phase == RunPhase::kEnded) {
      continue;
    }
    Report report{job.id, attempt.number, attempt.runs[i].reported + 1, {}};
    if (what == 0) {
      RunStarted started;
      started.time = now;
      started.image = job.spec->container.given() ? "sha256:0" : "";
      report.fact = started;
    } else if (what == 1) {
      report.fact = RunSuspended{now, attempt.suspension, attempt.suspension % 2 == 0};
    } else {
      report.fact = DrawEnd(job, now, random);
    }
    reports.emplace_back(TakeReport{attempt.allocation.nodes[i].node, std::move(report)});
  }
  return reports;
}

Command DrawStart(const core::ClusterState& state, const Job& job, RandomSequence& random) {
  StartStep start;
  start.token = absl::StrCat("aside-", random.Below(1'000'000));
  start.job = job.id;
  start.by = job.spec->user;
  start.program.argv = {"/bin/hostname"};
  start.spec = DrawStep(WishesOf(state), random);
  if (Chance(random, 500)) {
    start.spec = StepSpec();
    start.spec.tasks = Draw(random, 2);
    start.spec.name = Chance(random, 500) ? "named" : "";
  }
  return start;
}

Command DrawSubmission(const core::ClusterState& state, Time now, RandomSequence& random) {
  const WishList list = WishesOf(state);
  SubmitJob submit;
  submit.token = absl::StrCat("aside-", random.Below(1'000'000));
  submit.spec.user = User{1000, 1000, "ada"};
  submit.spec.kind = Chance(random, 700) ? JobKind::kBatch : JobKind::kRun;
  submit.spec.request.min_nodes = submit.spec.request.max_nodes = submit.spec.request.tasks =
      1 + Draw(random, 2);
  submit.spec.request.cpus_per_task = 1 + Draw(random, 8);
  submit.spec.requeue = static_cast<Choice>(random.Below(3));
  if (Chance(random, 300)) {
    submit.spec.array = ArraySpec{{ArrayRange{0, 1 + Draw(random, 4), 1}}, Draw(random, 3)};
    submit.spec.kind = JobKind::kBatch;
  }
  if (Chance(random, 300)) {
    submit.spec.request.gpus_per_task = {
        OneOf<std::string>(random, {"1g.10gb", "3g.40gb", "h100"}), 1, {}};
  }
  if (Chance(random, 200)) {
    submit.spec.container.image = "alpine:3.20";
  }
  if (Chance(random, 300)) {
    AddRareWishes(list, now, random, &submit.spec);
  }
  const auto& reservations = state.policy().site().reservations;
  if (!reservations.empty() && Chance(random, 300)) {
    submit.spec.reservation = reservations.begin()->first;
  }
  NameRules(state.policy().site(), random, &submit.spec);
  if (Chance(random, 50)) {
    submit.spec.partition = OneOf<std::string>(random, {kImpliedPartition, "nowhere", "all,all"});
  }
  if (Chance(random, 300)) {
    submit.spec.time_limit = std::chrono::seconds(10 + Draw(random, 200));
  }
  std::vector<JobId> others;
  for (const auto& [id, other] : state.jobs()) {
    others.push_back(other.submission);
  }
  AddRareDependency(others, random, &submit);
  const Job* const element =
      SomeJob(state, random, [](const Job& job) { return job.array_index.has_value(); });
  if (element != nullptr && Chance(random, 250)) {
    DependencyTerm each;
    each.kind = Chance(random, 700) ? DependencyKind::kAfterCorr : DependencyKind::kAfterOk;
    each.job = element->submission;
    submit.spec.dependency = Dependency();
    submit.spec.dependency.terms = {each};
    submit.spec.kill_on_invalid_dep = static_cast<Choice>(random.Below(3));
    submit.spec.array = ArraySpec{{ArrayRange{0, 1 + Draw(random, 4), 1}}, 0};
    submit.spec.kind = JobKind::kBatch;
  }
  AddComponents(list, now, random, &submit);
  submit.program.argv = {"/bin/true"};
  submit.program.work_dir = "/";
  submit.program.script = submit.spec.kind == JobKind::kBatch ? "#!/bin/sh\n" : "";
  return submit;
}

Command DrawNews(const core::ClusterState& state, Time now, RandomSequence& random) {
  const Job* const job = DrawHolder(state, random);
  const Node* const node = DrawNode(state, random);
  if (job != nullptr && Chance(random, 600)) {
    return DrawReport(*job, now, random);
  }
  if (node == nullptr) {
    return TickElastic{};
  }
  switch (random.Below(7)) {
    case 0:
      return LoseAgent{node->id, std::chrono::seconds(Draw(random, 60))};
    case 1:
      if (job != nullptr) {
        return FailLaunch{job->id, job->attempt->number, "the order is lost"};
      }
      return TakeNodeFault{node->id, "GPU 0 fell off the bus"};
    case 2:
      return DrawHealthNews(state, *node, random);
    default:
      return DrawRegistration(state, *node, random);
  }
}

Command DrawAsked(const core::ClusterState& state, Time now, RandomSequence& random) {
  const Job* const running = DrawHolder(state, random);
  const Job* const any = DrawJob(state, random);
  if (any == nullptr || Chance(random, 100)) {
    return DrawSubmission(state, now, random);
  }
  const Job& job = running == nullptr || Chance(random, 300) ? *any : *running;
  const Actor by = Chance(random, 800) ? AnOperator() : DrawRareActor(random);
  switch (random.Below(running == nullptr ? 6 : 12)) {
    case 0:
      return DrawSubmission(state, now, random);
    case 1:
      return CancelJob{job.id, job.array_index, by};
    case 2:
      return HoldJob{job.id, std::nullopt, Chance(random, 500), by};
    case 3:
      return DrawUpdateOf(state, job, now, random);
    case 4:
      return SuspendJob{job.id, std::nullopt, Chance(random, 600), by};
    case 5:
      return RequeueJob{job.id, std::nullopt, by};
    case 6:
    case 7:
      return DrawNewLimit(*running, now, random);
    case 8:
      return DrawSignal(*running, random);
    case 9:
      return DrawAttach(*running, random);
    default:
      return DrawStart(state, *running, random);
  }
}

}  // namespace muster::sim
