// Step, second half: from the exec to the end. The first half is step_launch.cc.
#include "agent/supervisor/step/step.h"

#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "agent/supervisor/launch/environment.h"
#include "agent/supervisor/mpi/step_pmix.h"
#include "agent/supervisor/step/step_rank.h"
#include "agent/supervisor/variables/device_environment.h"
#include "scheduler/base/status.h"

namespace muster {
namespace {

constexpr Duration kReadBackInterval{1};
// How long output is waited for that a rank's children hold open after it has ended.
constexpr Duration kOutputGrace{2000};
// How long a `muster run` that takes nothing is waited for after the ranks have ended.
constexpr Duration kFlushGrace{60000};
constexpr Duration kLostConnectionGrace{2000};
constexpr Duration kBrokenStepGrace{5000};
constexpr std::size_t kRanksPerReport = 1000;
constexpr std::size_t kExitTextsMax = std::size_t{1} << 20U;

Duration ToDuration(const timeval& time) {
  return std::chrono::seconds(time.tv_sec) +
         std::chrono::duration_cast<Duration>(std::chrono::microseconds(time.tv_usec));
}

ExitStatus FromWait(int wait_status) {
  ExitStatus status;
  if (WIFSIGNALED(wait_status)) {
    status.signal = WTERMSIG(wait_status);
  } else {
    status.code = WEXITSTATUS(wait_status);
  }
  return status;
}

}  // namespace

Step::Step(StepHost host, StepPlan plan, StepHandlers handlers)
    : host_(host),
      plan_(std::move(plan)),
      handlers_(std::move(handlers)),
      ranks_(plan_),
      timers_(host.loop) {}

Step::~Step() {
  for (const std::unique_ptr<Rank>& rank : ranks_.all()) {
    host_.loop.Unwatch(rank->said.get());
  }
}

PatternValues Step::ValuesOf(const Rank& rank) const {
  const LaunchOrder& launch = host_.order.launch;
  PatternValues values;
  values.job = launch.job;
  values.submission = launch.submission;
  values.array_index = launch.array_index;
  values.job_name = launch.spec.name;
  values.node = host_.order.node_name;
  values.rank = rank.placement.rank;
  values.step = plan_.step;
  return values;
}

PlannedBinding Step::PlanOf(const Rank& rank) const {
  PlannedBinding plan;
  plan.cpus = rank.placement.cpus;
  plan.mem_nodes = rank.placement.mem_nodes;
  plan.gpus = VisibleGpus(host_.order, plan_.node(), &rank.placement);
  plan.enforced = host_.order.machine.enforced;
  plan.why_not_enforced = host_.order.machine.why_not_enforced;
  plan.one_memory_node = host_.order.machine.numa_nodes.size() <= 1;
  return plan;
}

void Step::FailRank(Rank* rank, int code, const std::string& text) {
  // Whoever shows it says on which node that was.
  verdict_.TakeLaunchFailure(
      plan_.step.valid() ? absl::StrCat("rank ", rank->placement.rank, ": ", text) : text);
  rank->failed = true;
  rank->settled = true;
  rank->exit.text = text;
  rank->exit.status.code = code;
  if (rank->pid == 0) {
    EndRank(rank, rank->exit.status);
  }
}

void Step::TryReadBack(Rank* rank, int tries_left) {
  if (rank->settled) {
    return;
  }
  absl::StatusOr<ObservedBinding> found = ReadBack(rank->pid);
  const bool whole = found.ok() && found->cpus.has_value() && found->mem_policy.has_value() &&
                     found->gpus.has_value();
  if (!whole && tries_left > 0) {
    timers_.After(kReadBackInterval, [this, rank, tries_left] {
      TryReadBack(rank, tries_left - 1);
      CheckStarted();
    });
    return;
  }
  TakeReading(rank, found.ok() ? *std::move(found) : ObservedBinding());
}

void Step::TakeReading(Rank* rank, ObservedBinding found) {
  const PlannedBinding plan = PlanOf(*rank);
  if (rank->self.has_value()) {
    // What could not be asked any more the child said itself, just before its exec.
    ObservedBinding self = FromKernel(*rank->self, plan.gpus);
    found.cpus = found.cpus.has_value() ? found.cpus : self.cpus;
    found.mem_policy = found.mem_policy.has_value() ? found.mem_policy : self.mem_policy;
    found.gpus = found.gpus.has_value() ? found.gpus : self.gpus;
  }
  RankBinding binding = Compare(plan, found);
  binding.step = plan_.step;
  binding.rank = rank->placement.rank;
  binding.pid = rank->started_pid;
  const int refused = !rank->self.has_value()      ? 0
                      : rank->self->cpu_error != 0 ? rank->self->cpu_error
                                                   : rank->self->policy_error;
  if (refused != 0 && plan.enforced) {
    absl::StrAppend(&binding.text, binding.text.empty() ? "" : "; ",
                    "the kernel said: ", strerror(refused));
  }
  if (!pmix_note_.empty()) {
    absl::StrAppend(&binding.text, binding.text.empty() ? "" : "; ", pmix_note_);
  }
  rank->binding = std::move(binding);
  rank->settled = true;
}

void Step::CheckStarted() {
  if (!forked_ || !ranks_.AllSettled() || started_) {
    return;
  }
  started_ = true;
  if (verdict_.launch_error().empty()) {
    handlers_.on_started();
  }
  ReportBindings();
  if (!verdict_.launch_error().empty()) {
    host_.log.Error("step", verdict_.launch_error());
    Terminate(kBrokenStepGrace);
  }
  CheckEnded();
}

// In reports that each fit into a message of the agent's.
void Step::ReportBindings() {
  BindingRead read;
  read.time = host_.clock.Now();
  for (const std::unique_ptr<Rank>& rank : ranks_.all()) {
    if (rank->binding.has_value()) {
      read.ranks.push_back(*rank->binding);
    }
    if (read.ranks.size() == kRanksPerReport) {
      host_.reporter.Report(read);
      read.ranks.clear();
    }
  }
  if (!read.ranks.empty()) {
    host_.reporter.Report(std::move(read));
  }
}

void Step::BeforeReap(pid_t pid) {
  Rank* rank = ranks_.Find(pid);
  if (rank == nullptr) {
    return;
  }
  ReadSaid(rank);
  if (pmix_ != nullptr) {
    pmix_->Hear(rank->placement.rank);
  }
  if (!rank->settled && rank->awaited == 0) {
    TryReadBack(rank, 0);
  }
}

void Step::Reaped(pid_t pid, int wait_status, const rusage& usage) {
  Rank* rank = ranks_.Find(pid);
  if (rank == nullptr) {
    return;
  }
  usage_.user_cpu += ToDuration(usage.ru_utime);
  usage_.system_cpu += ToDuration(usage.ru_stime);
  usage_.peak_memory =
      std::max(usage_.peak_memory, Bytes(static_cast<std::uint64_t>(usage.ru_maxrss) * 1024));
  if (rank->awaited != 0 && !EndsRestored(rank, pid, &wait_status)) {
    return;
  }
  rank->pid = 0;
  EndRank(rank, rank->failed ? rank->exit.status : FromWait(wait_status));
  CheckStarted();
  CheckEnded();
}

// Of a step on several nodes nobody here can tell.
bool Step::OthersLeft() const {
  return plan_.placement.nodes.size() > 1 || ranks_.AnyRuns();
}

void Step::EndRank(Rank* rank, ExitStatus status) {
  rank->ended = true;
  rank->exit.time = host_.clock.Now();
  if (rank->exit.status.success()) {
    rank->exit.status = status;
  }
  if (rank->exit.status.signal == SIGKILL && cgroup_.has_value() && rank->exit.text.empty()) {
    rank->exit.text = cgroup_->OutOfOwnMemory().value_or("");
  }
  if (!rank->exit.status.success() && rank->exit.text.empty()) {
    rank->exit.text = FullOutput(*rank);
    if (!rank->exit.text.empty()) {
      verdict_.TakeRemark(Where(*rank) + rank->exit.text);
    }
  }
  const std::uint32_t number = rank->placement.rank;
  std::optional<StepVerdict::MpiPart> mpi;
  if (pmix_ != nullptr) {
    mpi = StepVerdict::MpiPart{pmix_->Joined(number), pmix_->EverJoined(number)};
  }
  if (mpi.has_value() && mpi->joined && rank->exit.status.success() && OthersLeft() &&
      !verdict_.terminating()) {
    rank->exit.status.code = 1;
    rank->exit.text = "it ended before MPI_Finalize";
  }
  verdict_.TakeStatus(rank->exit.status);
  const ExitMeaning meaning =
      verdict_.MeaningOf(number, rank->exit.status, rank->failed && !rank->recalled, mpi);
  if (connection_ != nullptr) {
    connection_->SendExit(rank->exit, meaning);
  }
  if ((meaning.fatal || rank->exit.status.signal != 0) && OthersLeft() && !verdict_.terminating()) {
    // The peers of an MPI rank do not notice that it is gone: they would wait for ever.
    host_.log.Warning("step", absl::StrCat("rank ", rank->placement.rank, " of step ",
                                           plan_.step.value(), " ended; ending the others"));
    verdict_.BreakBy(number);
    if (pmix_ != nullptr) {
      StepBreak why;
      why.text =
          absl::StrCat("rank ", rank->placement.rank, " on ", host_.order.node_name, " ended");
      why.rank = rank->placement.rank;
      why.status = rank->exit.status;
      pmix_->Break(why);
    }
    Terminate(kBrokenStepGrace);
  }
}

void Step::Aborted(std::uint32_t rank, int code, const std::string& message) {
  if (verdict_.broken() || verdict_.terminating()) {
    return;
  }
  host_.log.Warning("step", absl::StrCat("rank ", rank, " of step ", plan_.step.value(),
                                         " aborted with ", code, ": ", message));
  verdict_.Abort(rank, code);
  StepBreak why;
  why.text = absl::StrCat("rank ", rank, " on ", host_.order.node_name, " called MPI_Abort");
  why.rank = rank;
  why.status.code = AbortCode(code);
  why.aborted = true;
  pmix_->Break(why);
  if (Rank* const caller = ranks_.Numbered(rank);
      caller != nullptr && caller->exit.status.success()) {
    caller->exit.status.code = AbortCode(code);
    caller->exit.text = "it called MPI_Abort";
  }
  Terminate(kBrokenStepGrace);
}

void Step::RankJoined() {
  if (connection_ != nullptr && !std::exchange(met_, true)) {
    connection_->SendMeet();
  }
}

void Step::BrokenElsewhere(const StepBreak& why) {
  if (verdict_.broken() || verdict_.terminating() || ended_) {
    return;
  }
  host_.log.Warning(
      "step", absl::StrCat("step ", plan_.step.value(), ": ", why.text, "; ending the ranks here"));
  verdict_.TakeBreak(why);
  if (pmix_ != nullptr) {
    pmix_->Break(why);
  }
  Terminate(kBrokenStepGrace);
}

void Step::Terminate(Duration grace) {
  verdict_.Terminate();
  ranks_.Signal(SIGTERM);
  ranks_.Signal(SIGCONT);
  timers_.After(grace, [this] { ranks_.Signal(SIGKILL); });
}

void Step::OnConnectionLost() {
  // Lost output is read on and thrown away, so that a rank's last words cannot block it.
  for (const std::unique_ptr<Rank>& rank : ranks_.all()) {
    if (rank->output != nullptr) {
      rank->output->Resume();
      rank->error->Resume();
    }
  }
  if (ranks_.AnyRuns() && !verdict_.terminating()) {
    host_.log.Warning("step", absl::StrCat("the `muster run` of step ", plan_.step.value(),
                                           " is gone; ending its ranks"));
    if (terminal_.has_value()) {
      ranks_.Signal(SIGHUP);  // as a terminal does that is hung up: shells heed no SIGTERM
    }
    Terminate(kLostConnectionGrace);
  }
  CheckEnded();
}

void Step::CloseOutput() {
  draining_ = true;
  for (const std::unique_ptr<Rank>& rank : ranks_.all()) {
    if (rank->output != nullptr) {
      rank->output->Close();
      rank->error->Close();
    }
  }
}

void Step::DropConnection() {
  if (connection_ == nullptr || ended_) {
    return;
  }
  CloseOutput();
  CheckEnded();
  if (!ended_ && ranks_.AllEnded()) {
    Finish();
  }
}

// All output was read, or what keeps a pipe open has had its time.
bool Step::OutputTaken() const {
  return std::all_of(
      ranks_.all().begin(), ranks_.all().end(), [](const std::unique_ptr<Rank>& rank) {
        return rank->output == nullptr || (rank->output->closed() && rank->error->closed());
      });
}

void Step::CheckEnded() {
  if (!ranks_.AllEnded() || !started_ || ended_) {
    return;
  }
  if (pmix_ != nullptr) {
    pmix_->Leave(verdict_.told());
  }
  if (connection_ == nullptr || connection_->lost()) {
    Finish();
    return;
  }
  if (!OutputTaken()) {
    if (!draining_) {
      draining_ = true;
      timers_.After(kOutputGrace, [this] {
        CloseOutput();
        CheckEnded();
      });
    }
    return;
  }
  if (!done_sent_) {
    done_sent_ = true;
    connection_->SendDone();
    if (connection_->Flushed()) {
      Finish();
      return;
    }
    connection_->WhenFlushed([this] { Finish(); });
    timers_.After(kFlushGrace, [this] { Finish(); });
  }
}

void Step::Finish() {
  if (ended_) {
    return;
  }
  ended_ = true;
  pmix_.reset();
  if (cgroup_.has_value()) {
    cgroup_->Remove();  // unless what a rank left behind lives in it: then it goes with the attempt
  }
  if (plan_.step.valid()) {
    StepEnded report;
    report.step = plan_.step;
    report.time = host_.clock.Now();
    std::size_t told = 0;
    for (const std::unique_ptr<Rank>& rank : ranks_.all()) {
      report.ranks.push_back(rank->exit);
      // They are alike where they are many, and have to fit into a message of the agent's.
      told += rank->exit.text.size();
      if (told > kExitTextsMax) {
        report.ranks.back().text.clear();
      }
    }
    report.usage = usage_;
    host_.reporter.Report(std::move(report));
  }
  // From the loop: the owner may destroy this step.
  host_.loop.Post(handlers_.on_ended);
}

}  // namespace muster
