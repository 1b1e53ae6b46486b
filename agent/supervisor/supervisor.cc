#include "agent/supervisor/supervisor.h"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "agent/supervisor/attempt/sampled_usage.h"
#include "agent/supervisor/checkpoint/checkpoint_flush.h"
#include "agent/supervisor/launch/environment.h"
#include "agent/supervisor/limits/process_tree.h"
#include "agent/supervisor/mpirun/host_file.h"
#include "agent/supervisor/mpirun/inner_rank_scan.h"
#include "scheduler/base/status.h"
#include "scheduler/model/settings/elastic_policy.h"
#include "scheduler/runtime/signals.h"

namespace muster {
namespace {

constexpr StepId kRunStep{1};

absl::StatusOr<std::uint32_t> FindNode(const Allocation& allocation, const std::string& name) {
  for (std::uint32_t i = 0; i < allocation.nodes.size(); ++i) {
    if (allocation.nodes[i].name == name) {
      return i;
    }
  }
  return absl::InvalidArgumentError(absl::StrCat("node ", name, " has no part in it"));
}

Usage UsageOfChildren() {
  rusage used = {};
  getrusage(RUSAGE_CHILDREN, &used);
  const auto duration = [](const timeval& time) {
    return std::chrono::seconds(time.tv_sec) +
           std::chrono::duration_cast<Duration>(std::chrono::microseconds(time.tv_usec));
  };
  Usage usage;
  usage.user_cpu = duration(used.ru_utime);
  usage.system_cpu = duration(used.ru_stime);
  usage.peak_memory = Bytes(static_cast<std::uint64_t>(used.ru_maxrss) * 1024);
  return usage;
}

}  // namespace

Supervisor::Supervisor(EventLoop& loop, const Clock& clock, const Logger& log,
                       AttemptDirectory directory, SupervisorOrder order, JournalWriter journal,
                       UniqueFd signals)
    : loop_(loop),
      clock_(clock),
      log_(log),
      directory_(std::move(directory)),
      order_(std::move(order)),
      reporter_(loop, log, std::move(journal), order_.doorbell, directory_.Name()),
      signals_(std::move(signals)),
      confinement_(directory_, order_),
      suspension_(
          loop, clock, log, reporter_,
          {.on_suspended = [this] { limit_.Hold(); }, .on_resumed = [this] { limit_.RunOn(); }}),
      lease_(loop, clock, [this] { EndWithLease(); }),
      checkpoints_(loop, clock, log, order_, reporter_, end_,
                   {.before_look = [this] { criu_.DumpWhenDue(); },
                    .on_slow = [this](Duration slow) { warning_.TakeSlow(slow); },
                    .on_answered = [this] { termination_.Kill(); }}),
      termination_(loop, end_, suspension_,
                   {.copying = [] { return FlushRuns(); },
                    .on_kill =
                        [this] {
                          for (const auto& [id, step] : steps_) {
                            step->DropConnection();
                          }
                        }}),
      criu_({loop, clock, log, order_, end_, suspension_, termination_, checkpoints_},
            {.leader = [this] { return LoneScript(); },
             .begin = [this] { BeginBatch(); },
             .on_give_up = [this] { CheckFinished(); }}),
      progress_(loop, clock, log, order_, end_,
                {.beats = [this] { return checkpoints_.beats(); },
                 .suspended = [this] { return suspension_.ordered(); },
                 .on_hung =
                     [this](const std::string& why) {
                       EndByForce(EndCause::kHung, order_.launch.spec.kill_grace, why);
                     }}),
      scripts_({loop, log, directory_, order_, end_},
               {.on_prolog = [this] { BeginWork(); },
                .on_prolog_failed =
                    [this] { EndByForce(EndCause::kPrologFailed, Duration(0), end_.node_fault()); },
                .on_epilog =
                    [this] {
                      termination_.Kill();  // what it left behind
                      CheckFinished();
                    },
                .on_recalled = [this] { CheckFinished(); }}),
      closing_(loop),
      pmix_(loop, closing_, log, directory_, order_),
      limit_(loop, clock,
             {.on_end = [this](std::optional<Duration> left) { PlanEnd(left); },
              .on_held = [this] { warning_.Forget(); },
              .on_over =
                  [this](const std::string& why) {
                    EndByForce(EndCause::kTimeLimit, order_.launch.spec.kill_grace, why);
                  }}),
      warning_(loop, clock, log, order_.launch.spec.warning, end_,
               {.begun = [this] { return began_; },
                .send = [this] { return Router().Warn(order_.launch.spec.warning); }}) {
  checkpoints_.MakePages(&order_);
}

Supervisor::~Supervisor() {
  loop_.Unwatch(signals_.get());
}

absl::Status Supervisor::Run() {
  const absl::Status status = Begin();
  if (!status.ok()) {
    FailLaunch(status);
  }
  return loop_.Run();
}

void Supervisor::FailLaunch(const absl::Status& why) {
  EndByForce(EndCause::kLaunchFailed, Duration(0), std::string(why.message()));
}

absl::Status Supervisor::Begin() {
  RETURN_IF_ERROR(loop_.Watch(signals_.get(), EPOLLIN, [this](std::uint32_t) { OnSignals(); }));
  ASSIGN_OR_RETURN(node_index_, FindNode(order_.launch.allocation, order_.node_name));
  ASSIGN_OR_RETURN(control_, ControlSocket::Open(loop_, directory_.Control(),
                                                 [this](const ControlSocket::Command& command) {
                                                   return OnCommand(command);
                                                 }));
  RETURN_IF_ERROR(confinement_.Make(node_index_));
  if (const JobUser* const user = confinement_.user(); user != nullptr) {
    pmix_.RunAs(user->uid, user->gid);
  }
  suspension_.Hold(confinement_.cgroup());
  termination_.Hold(confinement_.cgroup());
  const LaunchOrder& launch = order_.launch;
  limit_.Begin(launch.spec.time_limit, launch.started, launch.spec.deadline);
  checkpoints_.Watch();
  if (launch.spec.elastic) {
    lease_.Begin(SteadyTime(std::chrono::milliseconds(order_.lease_until_ms)));
  }
  if (node_index_ == 0 && IsLeader(launch)) {
    progress_.Begin(confinement_.user());
  }
  scripts_.RunProlog(node_index_, confinement_.user());
  return absl::OkStatus();
}

void Supervisor::BeginWork() {
  if (suspension_.ordered()) {
    work_held_ = true;
    return;
  }
  began_ = true;
  if (const absl::Status status = StartWork(); !status.ok()) {
    FailLaunch(status);
    return;
  }
  TakeHeldSteps();
}

absl::Status Supervisor::StartWork() {
  RETURN_IF_ERROR(confinement_.OpenSession());
  ListenToInnerRanks();
  if (order_.launch.spec.kind == JobKind::kRun) {
    BeginRun();
  } else if (node_index_ == 0 && IsLeader(order_.launch)) {
    main_step_ = StepId();
    RETURN_IF_ERROR(criu_.Prepare(confinement_.user()));
    RETURN_IF_ERROR(confinement_.WriteScript());
    RETURN_IF_ERROR(
        WriteHostfile(directory_.Hostfile(), order_.launch.allocation, confinement_.user()));
    BeginBatch();
  } else {
    ReportStarted();
  }
  return absl::OkStatus();
}

// Without it an `mpirun` starts its ranks as it would anywhere.
void Supervisor::ListenToInnerRanks() {
  InnerRanks::Host host{.loop = loop_,
                        .clock = clock_,
                        .order = order_,
                        .reporter = reporter_,
                        .node_index = node_index_,
                        .user = confinement_.user()};
  absl::StatusOr<std::unique_ptr<InnerRanks>> opened =
      InnerRanks::Open(host, RankSocket(order_.hostfile));
  if (opened.ok()) {
    inner_ranks_ = *std::move(opened);
  } else {
    log_.Warning("supervisor", std::string(opened.status().message()));
  }
}

void Supervisor::BeginBatch() {
  StepPlan plan;
  plan.step = StepId();
  plan.program = order_.launch.program;
  plan.placement = order_.launch.allocation;
  plan.node_index = node_index_;
  CriuCheckpoints* const saved = criu_.checkpoints();
  plan.script = saved == nullptr ? directory_.Script() : saved->Script();
  if (saved != nullptr) {
    plan.restore = saved->NextRestore();
    plan.program.append_output |= plan.restore.has_value();
  }
  Launch(std::move(plan));
}

void Supervisor::BeginRun() {
  main_step_ = kRunStep;
  StepPlan plan;
  plan.step = kRunStep;
  plan.program = order_.launch.program;
  plan.placement = order_.launch.allocation;
  plan.node_index = node_index_;
  LaunchAfterProlog(plan);
}

void Supervisor::LaunchAfterProlog(const StepPlan& plan) {
  known_steps_.insert(plan.step);
  scripts_.BeforeStep(plan.step, [this, plan] { Launch(plan); });
}

void Supervisor::Launch(StepPlan plan) {
  const StepId id = plan.step;
  if (inner_ranks_ != nullptr && StartsInnerRanks(plan.program)) {
    inner_ranks_->LookFor(IsHydra(plan.program));
  }
  StepHandlers handlers;
  handlers.on_started = [this, id] {
    if (main_step_ == id) {
      criu_.Started();
      ReportStarted();
    }
  };
  handlers.on_ended = [this, id] { OnStepEnded(id); };
  PmixGrant grant = pmix_.Grant(plan, NewsOf(id));
  StepHost host{.loop = loop_,
                .clock = clock_,
                .log = log_,
                .order = order_,
                .reporter = reporter_,
                .closing = closing_,
                .cgroup = confinement_.cgroup(),
                .mounts = confinement_.mounts(),
                .user = confinement_.user()};
  known_steps_.insert(id);
  std::unique_ptr<Step>& step = steps_[id];
  step = std::make_unique<Step>(host, std::move(plan), std::move(handlers));
  step->Start(std::move(grant));
}

// For the step `id`, while it is there.
PmixNews Supervisor::NewsOf(StepId id) {
  const auto tell = [this, id](auto&& what) {
    const auto step = steps_.find(id);
    if (step != steps_.end()) {
      what(*step->second);
    }
  };
  PmixNews news;
  news.on_abort = [tell](std::uint32_t rank, int code, const std::string& text) {
    tell([&](Step& step) { step.Aborted(rank, code, text); });
  };
  news.on_joined = [tell] { tell([](Step& step) { step.RankJoined(); }); };
  news.on_broken = [tell](const StepBreak& why) {
    tell([&](Step& step) { step.BrokenElsewhere(why); });
  };
  return news;
}

void Supervisor::ReportStarted() {
  if (std::exchange(started_reported_, true)) {
    return;
  }
  RunStarted fact;
  fact.time = clock_.Now();
  fact.pid = static_cast<std::uint32_t>(getpid());
  fact.limits = ToText(confinement_.limits());
  reporter_.Report(std::move(fact));
}

absl::Status Supervisor::OnCommand(const ControlSocket::Command& command) {
  if (const auto* step = std::get_if<StepOrder>(&command)) {
    return TakeStep(*step);
  }
  if (const auto* suspend = std::get_if<SuspendOrder>(&command)) {
    return TakeSuspend(*suspend);
  }
  if (const auto* signal = std::get_if<SignalOrder>(&command)) {
    return Router().Take(*signal);
  }
  if (const auto* attach = std::get_if<AttachOrder>(&command)) {
    return Router().Take(*attach);
  }
  if (const auto* advice = std::get_if<AdviceOrder>(&command)) {
    TakeAdvice(advice->advice);
    return absl::OkStatus();
  }
  if (const auto* renewal = std::get_if<LeaseRenewal>(&command)) {
    lease_.Renew(renewal->until);
    return absl::OkStatus();
  }
  return TakeTerminate(std::get<TerminateOrder>(command));
}

SignalRouter Supervisor::Router() const {
  return SignalRouter(log_, steps_, directory_.Name(), order_.launch.spec.kill_grace);
}

absl::Status Supervisor::TakeStep(const StepOrder& order) {
  if (order.job != order_.launch.job || order.attempt != order_.launch.attempt ||
      !order.step.valid()) {
    return absl::InvalidArgumentError(
        absl::StrCat("a step of attempt ", AttemptDirectory::NameOf(order.job, order.attempt),
                     " sent to ", directory_.Name()));
  }
  if (known_steps_.count(order.step) != 0) {
    return absl::OkStatus();
  }
  if (end_.ending()) {
    return absl::FailedPreconditionError(
        absl::StrCat("attempt ", directory_.Name(), " is ending: no step can start"));
  }
  if (suspension_.ordered() || !began_) {
    held_steps_.push_back(order);
    return absl::OkStatus();
  }
  return StartStep(order);
}

absl::Status Supervisor::StartStep(const StepOrder& order) {
  StepPlan plan;
  ASSIGN_OR_RETURN(plan.node_index, FindNode(order.placement, order_.node_name));
  plan.step = order.step;
  plan.program = order.program;
  plan.placement = order.placement;
  log_.Info("step", absl::StrCat("starting step ", order.step.value()));
  LaunchAfterProlog(plan);
  return absl::OkStatus();
}

absl::Status Supervisor::TakeTerminate(const TerminateOrder& order) {
  if (order.job != order_.launch.job || order.attempt != order_.launch.attempt) {
    return absl::InvalidArgumentError(
        absl::StrCat("a command for attempt ", AttemptDirectory::NameOf(order.job, order.attempt),
                     " sent to ", directory_.Name()));
  }
  EndByForce(order.cause, order.grace, "");
  return absl::OkStatus();
}

absl::Status Supervisor::TakeSuspend(const SuspendOrder& order) {
  if (order.job != order_.launch.job || order.attempt != order_.launch.attempt) {
    return absl::InvalidArgumentError(
        absl::StrCat("a command for attempt ", AttemptDirectory::NameOf(order.job, order.attempt),
                     " sent to ", directory_.Name()));
  }
  if (end_.ending() || !suspension_.Take(order) || !order.resume) {
    return absl::OkStatus();
  }
  if (std::exchange(work_held_, false)) {
    BeginWork();
  } else if (began_) {
    TakeHeldSteps();
  }
  return absl::OkStatus();
}

void Supervisor::TakeHeldSteps() {
  for (const StepOrder& order : std::exchange(held_steps_, {})) {
    if (known_steps_.count(order.step) != 0) {
      continue;
    }
    if (const absl::Status started = StartStep(order); !started.ok()) {
      log_.Warning("step", std::string(started.message()));
    }
  }
}

void Supervisor::OnStepEnded(StepId id) {
  const auto found = steps_.find(id);
  if (found == steps_.end()) {
    return;
  }
  std::unique_ptr<Step> step = std::move(found->second);
  steps_.erase(found);
  if (main_step_ == id) {
    if (criu_.BeginsOtherwise(*step)) {
      return;
    }
    end_.TakeMainStep(step->status(), step->launch_error(), step->remark(), clock_.SteadyNow());
    criu_.TakeEnd(*step);
  }
  // Before anything ends this process: it hands its connection to closing_, which waits for it.
  step.reset();
  scripts_.AfterStep(id, [this, id] {
    if (main_step_ == id && !end_.ending()) {
      end_.EndByItself();
      termination_.EndLeftovers(order_.launch.spec.kill_grace);
    }
    CheckFinished();
  });
}

void Supervisor::OnSignals() {
  while (true) {
    const absl::StatusOr<std::optional<SignalEvent>> event = NextSignal(signals_);
    if (!event.ok() || !event->has_value()) {
      return;
    }
    if ((*event)->number == SIGCHLD) {
      Reap();
    } else {
      log_.Warning("supervisor",
                   absl::StrCat("signal ", (*event)->number, " from pid ", (*event)->sender_pid,
                                " ignored: the job goes on; cancel it to end it"));
    }
  }
}

void Supervisor::Reap() {
  while (true) {
    siginfo_t info = {};
    if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == 0) {
      break;
    }
    const pid_t pid = info.si_pid;
    const auto step = std::find_if(steps_.begin(), steps_.end(),
                                   [pid](const auto& each) { return each.second->Owns(pid); });
    ScriptRun* const script = scripts_.Find(pid);
    if (step != steps_.end()) {
      step->second->BeforeReap(pid);
    } else if (script != nullptr) {
      script->BeforeReap();
    }
    int wait_status = 0;
    rusage usage = {};
    if (wait4(pid, &wait_status, 0, &usage) != pid) {
      continue;
    }
    if (step != steps_.end()) {
      step->second->Reaped(pid, wait_status, usage);
    } else if (script != nullptr) {
      script->Reaped(wait_status);
    } else if (criu_.Owns(pid)) {
      criu_.Reaped(wait_status);
    }
  }
  CheckFinished();
}

void Supervisor::EndWithLease() {
  EndByForce(
      EndCause::kNodeLostRecord, Duration(0),
      absl::StrCat("its node did not hear from the controller for ", kElasticLease.count() / 1000,
                   " s, after which the job may go on without it"));
}

void Supervisor::After(Duration delay, std::function<void()> action) {
  loop_.RunAfter(delay, std::move(action));
}

pid_t Supervisor::LoneScript() const {
  const auto found = steps_.find(StepId());
  return found == steps_.end() || steps_.size() > 1 ? 0 : found->second->Leader();
}

void Supervisor::EndByForce(EndCause cause, Duration grace, const std::string& text) {
  if (end_.job_over()) {
    return;
  }
  if (end_.Force(cause, text)) {
    log_.Info("supervisor", absl::StrCat("ending the attempt, cause ", static_cast<int>(cause),
                                         ", grace ", grace.count(), " ms"));
  }
  if (grace > Duration(0)) {
    checkpoints_.AnnounceEnd(cause, clock_.Now() + grace);
  }
  for (const auto& [id, step] : steps_) {
    step->ToldToEnd(cause == EndCause::kJobEnding);
  }
  criu_.End(cause, grace);
  // From the loop: who asked still waits for his answer on the control socket.
  loop_.Post([this] { CheckFinished(); });
}

void Supervisor::CheckFinished() {
  if (end_.ending() && !end_.finished() && steps_.empty() && !HasChildren() &&
      !scripts_.RunLast()) {
    Finish();
  }
}

void Supervisor::Finish() {
  end_.Finish();
  control_.reset();
  if (inner_ranks_ != nullptr) {
    inner_ranks_->Close();
  }
  confinement_.CloseSession();
  Usage usage = UsageOfChildren();
  if (const AttemptCgroup* const cgroup = confinement_.cgroup(); cgroup != nullptr) {
    usage.group_memory = cgroup->PeakMemory();
    if (const std::optional<std::string> out_of_memory = cgroup->OutOfMemory()) {
      end_.TakeOutOfMemory(*out_of_memory);
    }
    cgroup->Remove();
  }
  checkpoints_.LearnFrom(warning_, confinement_.user(), CheckpointDirectoryOf(order_.launch));
  checkpoints_.Report(true);
  AddSampled(ReadSampledUsage(directory_.Sampled()), usage);
  reporter_.Report(end_.Report(clock_.Now(), usage));
  reporter_.WhenWritten([this] { closing_.WhenEmpty([this] { loop_.Stop(); }); });
}

}  // namespace muster
