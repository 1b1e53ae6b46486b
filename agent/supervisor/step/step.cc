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

void Signal(pid_t pid, int signal) {
  // The rank leads a group of its own as soon as it has run.
  if (kill(-pid, signal) != 0) {
    kill(pid, signal);
  }
}

}  // namespace

Step::Step(StepHost host, StepPlan plan, StepHandlers handlers)
    : host_(host), plan_(std::move(plan)), handlers_(std::move(handlers)) {
  std::vector<RankPlacement> placements = Node().ranks;
  if (!plan_.script.empty()) {
    RankPlacement whole;
    whole.cpus = Node().cpus;
    whole.mem_nodes = Node().mem_nodes;
    placements = {whole};
  }
  for (RankPlacement& placement : placements) {
    ranks_.push_back(std::make_unique<Rank>());
    ranks_.back()->exit.rank = placement.rank;
    ranks_.back()->placement = std::move(placement);
  }
}

Step::~Step() {
  for (const EventLoop::TimerId timer : timers_) {
    host_.loop.Cancel(timer);
  }
  for (const std::unique_ptr<Rank>& rank : ranks_) {
    host_.loop.Unwatch(rank->said.get());
  }
}

void Step::After(Duration delay, std::function<void()> action) {
  timers_.push_back(host_.loop.RunAfter(delay, std::move(action)));
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
  values.of_step = plan_.step.value() != 0;
  values.node_index = plan_.node_index;
  values.user = launch.spec.user.name;
  return values;
}

PlannedBinding Step::PlanOf(const Rank& rank) const {
  PlannedBinding plan;
  plan.cpus = rank.placement.cpus;
  plan.mem_nodes = rank.placement.mem_nodes;
  plan.gpus = VisibleGpus(host_.order, Node(), &rank.placement);
  plan.enforced = host_.order.machine.enforced;
  plan.why_not_enforced = host_.order.machine.why_not_enforced;
  plan.one_memory_node = host_.order.machine.numa_nodes.size() <= 1;
  return plan;
}

Step::Rank* Step::Find(pid_t pid) {
  const auto found =
      std::find_if(ranks_.begin(), ranks_.end(),
                   [pid](const std::unique_ptr<Rank>& rank) { return rank->Is(pid); });
  return found == ranks_.end() ? nullptr : found->get();
}

bool Step::Owns(pid_t pid) const {
  return std::any_of(ranks_.begin(), ranks_.end(),
                     [pid](const std::unique_ptr<Rank>& rank) { return rank->Is(pid); });
}

void Step::FailRank(Rank* rank, int code, const std::string& text) {
  // Whoever shows it says on which node that was.
  if (launch_error_.empty()) {
    launch_error_ =
        plan_.step.valid() ? absl::StrCat("rank ", rank->placement.rank, ": ", text) : text;
  }
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
    After(kReadBackInterval, [this, rank, tries_left] {
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
  const bool settled =
      forked_ && std::all_of(ranks_.begin(), ranks_.end(),
                             [](const std::unique_ptr<Rank>& rank) { return rank->settled; });
  if (!settled || started_) {
    return;
  }
  started_ = true;
  if (launch_error_.empty()) {
    handlers_.on_started();
  }
  ReportBindings();
  if (!launch_error_.empty()) {
    host_.log.Error("step", launch_error_);
    Terminate(kBrokenStepGrace);
  }
  CheckEnded();
}

// In reports that each fit into a message of the agent's.
void Step::ReportBindings() {
  BindingRead read;
  read.time = host_.clock.Now();
  for (const std::unique_ptr<Rank>& rank : ranks_) {
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
  Rank* rank = Find(pid);
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
  Rank* rank = Find(pid);
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
  return plan_.placement.nodes.size() > 1 ||
         std::any_of(ranks_.begin(), ranks_.end(),
                     [](const std::unique_ptr<Rank>& each) { return each->pid != 0; });
}

ExitMeaning Step::MeaningOf(const Rank& rank, bool joined) const {
  const std::uint32_t number = rank.placement.rank;
  ExitMeaning meaning;
  const bool own = rank.failed && !rank.recalled;
  meaning.with_others = (broken_ && culprit_ != number) || (ended_by_others_ && !own);
  meaning.aborted = own || (aborted_ && culprit_ == number);
  if (pmix_ != nullptr && !terminating_) {
    meaning.fatal = joined || rank.exit.status.signal != 0;
    meaning.unjoined = !pmix_->EverJoined(number);
  }
  return meaning;
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
    remark_ =
        remark_.empty() && !rank->exit.text.empty() ? Where(*rank) + rank->exit.text : remark_;
  }
  const bool joined = pmix_ != nullptr && pmix_->Joined(rank->placement.rank);
  if (joined && rank->exit.status.success() && OthersLeft() && !terminating_) {
    rank->exit.status.code = 1;
    rank->exit.text = "it ended before MPI_Finalize";
  }
  if (status_.success()) {
    status_ = rank->exit.status;
  }
  const ExitMeaning meaning = MeaningOf(*rank, joined);
  if (connection_ != nullptr) {
    connection_->SendExit(rank->exit, meaning);
  }
  if ((meaning.fatal || rank->exit.status.signal != 0) && OthersLeft() && !terminating_) {
    // The peers of an MPI rank do not notice that it is gone: they would wait for ever.
    host_.log.Warning("step", absl::StrCat("rank ", rank->placement.rank, " of step ",
                                           plan_.step.value(), " ended; ending the others"));
    broken_ = true;
    culprit_ = rank->placement.rank;
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
  if (broken_ || terminating_) {
    return;
  }
  host_.log.Warning("step", absl::StrCat("rank ", rank, " of step ", plan_.step.value(),
                                         " aborted with ", code, ": ", message));
  const int exit_code = (code & 0xff) == 0 ? 1 : code & 0xff;
  broken_ = true;
  aborted_ = true;
  culprit_ = rank;
  StepBreak why;
  why.text = absl::StrCat("rank ", rank, " on ", host_.order.node_name, " called MPI_Abort");
  why.rank = rank;
  why.status.code = exit_code;
  why.aborted = true;
  pmix_->Break(why);
  for (const std::unique_ptr<Rank>& each : ranks_) {
    if (each->placement.rank == rank && each->exit.status.success()) {
      each->exit.status.code = exit_code;
      each->exit.text = "it called MPI_Abort";
    }
  }
  if (status_.success()) {
    status_.code = exit_code;
  }
  Terminate(kBrokenStepGrace);
}

void Step::RankJoined() {
  if (connection_ != nullptr && !std::exchange(met_, true)) {
    connection_->SendMeet();
  }
}

void Step::BrokenElsewhere(const StepBreak& why) {
  if (broken_ || terminating_ || ended_) {
    return;
  }
  host_.log.Warning(
      "step", absl::StrCat("step ", plan_.step.value(), ": ", why.text, "; ending the ranks here"));
  // The loss of a supervisor is nobody's exit: then what becomes of the ranks here counts.
  broken_ = why.rank.has_value();
  if (status_.success()) {
    status_ = why.status;
    status_.code = status_.success() ? 1 : status_.code;
  }
  if (pmix_ != nullptr) {
    pmix_->Break(why);
  }
  Terminate(kBrokenStepGrace);
}

void Step::ToldToEnd(bool by_others) {
  terminating_ = true;
  told_ = true;
  ended_by_others_ = ended_by_others_ || by_others;
}

void Step::SignalRanks(int signal) {
  for (const std::unique_ptr<Rank>& rank : ranks_) {
    if (rank->pid != 0) {
      muster::Signal(rank->pid, signal);
    }
  }
}

void Step::Signal(int signal) {
  if (signal > 0 && signal < NSIG) {
    SignalRanks(signal);
  }
}

void Step::SignalLeaders(int signal) {
  for (const std::unique_ptr<Rank>& rank : ranks_) {
    if (rank->pid != 0) {
      kill(rank->pid, signal);
    }
  }
}

void Step::Terminate(Duration grace) {
  terminating_ = true;
  SignalRanks(SIGTERM);
  SignalRanks(SIGCONT);
  After(grace, [this] { SignalRanks(SIGKILL); });
}

void Step::OnConnectionLost() {
  // Lost output is read on and thrown away, so that a rank's last words cannot block it.
  for (const std::unique_ptr<Rank>& rank : ranks_) {
    if (rank->output != nullptr) {
      rank->output->Resume();
      rank->error->Resume();
    }
  }
  const bool alive = std::any_of(ranks_.begin(), ranks_.end(),
                                 [](const std::unique_ptr<Rank>& rank) { return rank->pid != 0; });
  if (alive && !terminating_) {
    host_.log.Warning("step", absl::StrCat("the `muster run` of step ", plan_.step.value(),
                                           " is gone; ending its ranks"));
    if (terminal_.has_value()) {
      SignalRanks(SIGHUP);  // as a terminal does that is hung up: shells heed no SIGTERM
    }
    Terminate(kLostConnectionGrace);
  }
  CheckEnded();
}

void Step::CloseOutput() {
  draining_ = true;
  for (const std::unique_ptr<Rank>& rank : ranks_) {
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
  if (!ended_ && std::all_of(ranks_.begin(), ranks_.end(),
                             [](const std::unique_ptr<Rank>& rank) { return rank->ended; })) {
    Finish();
  }
}

// All output was read, or what keeps a pipe open has had its time.
bool Step::OutputTaken() const {
  return std::all_of(ranks_.begin(), ranks_.end(), [](const std::unique_ptr<Rank>& rank) {
    return rank->output == nullptr || (rank->output->closed() && rank->error->closed());
  });
}

void Step::CheckEnded() {
  const bool all_ended = std::all_of(ranks_.begin(), ranks_.end(),
                                     [](const std::unique_ptr<Rank>& rank) { return rank->ended; });
  if (!all_ended || !started_ || ended_) {
    return;
  }
  if (pmix_ != nullptr) {
    pmix_->Leave(told_);
  }
  if (connection_ == nullptr || connection_->lost()) {
    Finish();
    return;
  }
  if (!OutputTaken()) {
    if (!draining_) {
      draining_ = true;
      After(kOutputGrace, [this] {
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
    After(kFlushGrace, [this] { Finish(); });
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
    for (const std::unique_ptr<Rank>& rank : ranks_) {
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
