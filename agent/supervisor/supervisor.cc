#include "agent/supervisor/supervisor.h"

#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <utility>

#include "absl/strings/str_cat.h"
#include "agent/supervisor/attempt/sampled_usage.h"
#include "agent/supervisor/checkpoint/checkpoint_flush.h"
#include "agent/supervisor/launch/environment.h"
#include "agent/supervisor/limits/process_tree.h"
#include "scheduler/base/status.h"
#include "scheduler/model/settings/elastic_policy.h"
#include "scheduler/runtime/signals.h"

namespace muster::agent {
namespace {

constexpr Duration kSessionGraceMax{2000};

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
  usage.major_faults = static_cast<std::uint64_t>(used.ru_majflt);
  // A kernel that does not account for storage says nothing here, as one does that had none.
  if (access("/proc/self/io", R_OK) == 0) {
    constexpr std::uint64_t kBlock = 512;  // getrusage(2)
    usage.read_bytes = Bytes(static_cast<std::uint64_t>(used.ru_inblock) * kBlock);
    usage.written_bytes = Bytes(static_cast<std::uint64_t>(used.ru_oublock) * kBlock);
  }
  return usage;
}

}  // namespace

Supervisor::Supervisor(EventLoop& loop, const Clock& clock, const Logger& log, Parts parts)
    : loop_(loop),
      clock_(clock),
      log_(log),
      directory_(std::move(parts.directory)),
      order_(std::move(parts.order)),
      reporter_(loop, log, std::move(parts.journal), order_.agent_socket, directory_.Name()),
      signals_(std::move(parts.signals)),
      confinement_(directory_, order_),
      limit_(loop, clock,
             {.on_end = [this](std::optional<Duration> left) { PlanEnd(left); },
              .on_held = [this] { warning_.Forget(); },
              .on_over = [this](const std::string& why) { EndFor(EndCause::kTimeLimit, why); }}),
      warning_(loop, clock, log, order_.launch.spec.warning, end_,
               {.begun = [this] { return work_.begun(); },
                .send = [this] { return Router().Warn(order_.launch.spec.warning); }}),
      lease_(loop, clock, [this] { EndWithLease(); }),
      suspension_(
          loop, clock, log, reporter_,
          {.on_suspended = [this] { limit_.Hold(); }, .on_resumed = [this] { limit_.RunOn(); }}),
      termination_(loop, end_, suspension_,
                   {.copying = [] { return CopyRuns(); },
                    .on_kill = [this] { work_.steps().DropConnections(); }}),
      checkpoints_(loop, clock, log, order_, reporter_, end_,
                   {.before_look =
                        [this] {
                          criu_.DumpWhenDue();
                          work_.Note(checkpoints_.Overdue());
                        },
                    .on_slow = [this](Duration slow) { warning_.TakeSlow(slow); },
                    .on_answered = [this] { termination_.Kill(); }}),
      progress_(loop, clock, log, order_, end_,
                {.beats = [this] { return checkpoints_.beats(); },
                 .suspended = [this] { return suspension_.ordered(); },
                 .on_hung = [this](const std::string& why) { EndFor(EndCause::kHung, why); }}),
      criu_({loop, clock, log, order_, end_, suspension_, termination_, checkpoints_},
            {.leader = [this] { return work_.steps().LoneScript(); },
             .begin = [this] { work_.BeginBatch(); },
             .on_give_up = [this] { CheckFinished(); }}),
      scripts_({loop, log, directory_, order_, end_},
               {.on_prolog = [this] { work_.Begin(); },
                .on_prolog_failed =
                    [this] { EndByForce(EndCause::kPrologFailed, Duration(0), end_.node_fault()); },
                .on_epilog =
                    [this] {
                      termination_.Kill();  // what it left behind
                      CheckFinished();
                    },
                .on_recalled = [this] { CheckFinished(); }}),
      work_({loop, clock, log, directory_, order_, reporter_, confinement_},
            {end_, confinement_, suspension_, scripts_, criu_, order_},
            {.on_failed = [this](const absl::Status& why) { FailLaunch(why); },
             .on_main_ended = [this] { EndByItself(); },
             .on_step_ended = [this] { CheckFinished(); }}) {
  checkpoints_.MakePages(&order_);
}

Supervisor::~Supervisor() {
  loop_.Unwatch(signals_.get());
}

absl::Status Supervisor::Run() {
  if (const absl::Status status = Begin(); !status.ok()) {
    FailLaunch(status);
  }
  return loop_.Run();
}

void Supervisor::FailLaunch(const absl::Status& why) {
  EndByForce(EndCause::kLaunchFailed, Duration(0), std::string(why.message()));
}

absl::Status Supervisor::Begin() {
  RETURN_IF_ERROR(loop_.Watch(signals_.get(), EPOLLIN, [this](std::uint32_t) { OnSignals(); }));
  const LaunchOrder& launch = order_.launch;
  ASSIGN_OR_RETURN(const std::uint32_t node_index, FindNode(launch.allocation, order_.node_name));
  ASSIGN_OR_RETURN(sockets_.control,
                   ControlSocket::Open(loop_, directory_.Control(),
                                       [this](const ControlSocket::Command& command) {
                                         return OnCommand(command);
                                       }));
  RETURN_IF_ERROR(confinement_.Make(node_index));
  suspension_.Hold(confinement_.cgroup());
  termination_.Hold(confinement_.cgroup());
  limit_.Begin(launch.spec.time_limit, launch.started, launch.spec.deadline);
  checkpoints_.Watch();
  if (launch.spec.elastic) {
    lease_.Begin(SteadyTime(std::chrono::milliseconds(order_.lease_until_ms)));
  }
  if (node_index == 0 && IsLeader(launch)) {
    progress_.Begin(confinement_.user());
  }
  OpenSessionDesk(node_index);
  scripts_.RunProlog(node_index, confinement_.user());
  return absl::OkStatus();
}

void Supervisor::OpenSessionDesk(std::uint32_t node_index) {
  if (confinement_.user() == nullptr) {
    return;  // a login of root, or to a node of one's own, is nobody's to hold
  }
  absl::StatusOr<std::unique_ptr<SessionDesk>> desk = SessionDesk::Open(
      {loop_, clock_, log_, order_, node_index, directory_.path(), confinement_.user()->uid,
       confinement_.cgroup() == nullptr ? "" : order_.cgroup, confinement_.mounts(),
       [this] { return ClosedToSessions(); }, [this] { CheckFinished(); }});
  if (!desk.ok()) {
    log_.Warning("supervisor", absl::StrCat("no login gets into this job: ",
                                            std::string(desk.status().message())));
    return;
  }
  sockets_.sessions = *std::move(desk);
}

std::string Supervisor::ClosedToSessions() const {
  if (end_.ending()) {
    return "it ends";
  }
  if (suspension_.ordered()) {
    return "it is suspended";
  }
  return work_.begun() ? "" : "it has not begun yet";
}

bool Supervisor::SessionsEnded() const {
  return sockets_.sessions == nullptr ||
         sockets_.sessions->Ended(std::min(order_.launch.spec.kill_grace, kSessionGraceMax));
}

absl::Status Supervisor::OnCommand(const ControlSocket::Command& command) {
  if (const auto* step = std::get_if<StepOrder>(&command)) {
    if (!IsOurs(step->job, step->attempt) || !step->step.valid()) {
      return absl::InvalidArgumentError(
          absl::StrCat("a step of attempt ", AttemptDirectory::NameOf(step->job, step->attempt),
                       " sent to ", directory_.Name()));
    }
    return work_.Take(*step);
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

bool Supervisor::IsOurs(JobId job, AttemptNumber attempt) const {
  return job == order_.launch.job && attempt == order_.launch.attempt;
}

absl::Status Supervisor::Strange(JobId job, AttemptNumber attempt) const {
  return absl::InvalidArgumentError(absl::StrCat("a command for attempt ",
                                                 AttemptDirectory::NameOf(job, attempt),
                                                 " sent to ", directory_.Name()));
}

absl::Status Supervisor::TakeTerminate(const TerminateOrder& order) {
  if (!IsOurs(order.job, order.attempt)) {
    return Strange(order.job, order.attempt);
  }
  EndByForce(order.cause, order.grace, "");
  return absl::OkStatus();
}

absl::Status Supervisor::TakeSuspend(const SuspendOrder& order) {
  if (!IsOurs(order.job, order.attempt)) {
    return Strange(order.job, order.attempt);
  }
  if (!end_.ending() && suspension_.Take(order) && order.resume) {
    work_.GoOn();
  }
  return absl::OkStatus();
}

void Supervisor::TakeAdvice(const CheckpointAdvice& advice) {
  if (!checkpoints_.Advise(advice) || advice.time_limit == Duration(0) || end_.ending() ||
      !limit_.Change(advice.time_limit)) {
    return;
  }
  order_.launch.spec.time_limit = limit_.limit();  // which the steps that come are told
  log_.Info("supervisor", limit_.limit() > Duration(0)
                              ? absl::StrCat("the time limit is ", limit_.limit().count() / 1000,
                                             " s from now on")
                              : std::string("there is no time limit from now on"));
}

void Supervisor::PlanEnd(std::optional<Duration> left) {
  checkpoints_.SetEnd(left.has_value() ? clock_.Now() + *left : kNoTime);
  if (left.has_value()) {
    warning_.Plan(limit_.Used(), *left, checkpoints_.Slow());
  } else {
    warning_.Forget();
  }
}

SignalRouter Supervisor::Router() {
  return SignalRouter(log_, work_.steps().running(), directory_.Name(),
                      order_.launch.spec.kill_grace);
}

void Supervisor::OnSignals() {
  while (const std::optional<SignalEvent> event = TakeSignal(signals_)) {
    if (event->number == SIGCHLD) {
      Reap();
    } else {
      log_.Warning("supervisor",
                   absl::StrCat("signal ", event->number, " from pid ", event->sender_pid,
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
    Step* const step = work_.steps().Find(pid);
    ScriptRun* const script = scripts_.Find(pid);
    if (step != nullptr) {
      step->BeforeReap(pid);
    } else if (script != nullptr) {
      script->BeforeReap();
    }
    int wait_status = 0;
    rusage usage = {};
    if (wait4(pid, &wait_status, 0, &usage) != pid) {
      continue;
    }
    if (step != nullptr) {
      step->Reaped(pid, wait_status, usage);
    } else if (script != nullptr) {
      script->Reaped(wait_status);
    } else if (criu_.Owns(pid)) {
      criu_.Reaped(wait_status);
    } else {
      work_.steps().ReapedOther(pid, wait_status);
    }
  }
  CheckFinished();
}

void Supervisor::EndByItself() {
  end_.EndByItself();
  work_.steps().EndServing();
  termination_.EndOrphans(order_.launch.spec.kill_grace);
}

void Supervisor::EndWithLease() {
  EndByForce(
      EndCause::kNodeLostRecord, Duration(0),
      absl::StrCat("its node did not hear from the controller for ", kElasticLease.count() / 1000,
                   " s, after which the job may go on without it"));
}

void Supervisor::EndFor(EndCause cause, const std::string& why) {
  EndByForce(cause, order_.launch.spec.kill_grace, why);
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
  work_.steps().ToldToEnd(cause == EndCause::kJobEnding);
  criu_.End(cause, grace);
  // From the loop: who asked still waits for his answer on the control socket.
  loop_.Post([this] { CheckFinished(); });
}

void Supervisor::CheckFinished() {
  if (end_.ending()) {
    work_.steps().EndServing();
  }
  if (end_.ending() && !end_.finished() && work_.steps().running().empty() && !HasChildren() &&
      SessionsEnded() && !scripts_.RunLast()) {
    Finish();
  }
}

void Supervisor::Finish() {
  end_.Finish();
  sockets_.control.reset();
  work_.steps().Close();
  confinement_.CloseSession();
  Usage usage = UsageOfChildren();
  if (sockets_.sessions != nullptr) {
    sockets_.sessions->AddUsed(&usage);
  }
  if (const AttemptCgroup* const cgroup = confinement_.cgroup(); cgroup != nullptr) {
    usage.group_memory = cgroup->PeakMemory();
    usage.io_blocked = cgroup->IoWait();
    if (const std::optional<std::string> out_of_memory = cgroup->OutOfMemory()) {
      end_.TakeOutOfMemory(*out_of_memory);
    }
    cgroup->Remove();
  }
  checkpoints_.LearnFrom(warning_, confinement_.user(), CheckpointDirectoryOf(order_.launch));
  checkpoints_.Report(true);
  AddSampled(ReadSampledUsage(directory_.Sampled()), usage);
  reporter_.Report(end_.Report(clock_.Now(), usage));
  reporter_.WhenWritten([this] { work_.steps().WhenQuiet([this] { loop_.Stop(); }); });
}

}  // namespace muster::agent
