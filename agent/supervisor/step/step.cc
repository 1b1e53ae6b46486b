#include "agent/supervisor/step/step.h"

#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <utility>

#include "absl/strings/str_cat.h"
#include "agent/supervisor/step/step_restore.h"
#include "scheduler/base/status.h"
#include "scheduler/model/value/start_code.h"

namespace muster::agent {
namespace {

constexpr int kCannotRun = 126;  // as shells say
constexpr int kNotFound = 127;
// How long output is waited for that a rank's children hold open after it has ended.
constexpr Duration kOutputGrace{2000};
// How long a `muster run` that takes nothing is waited for after the ranks have ended.
constexpr Duration kFlushGrace{60000};
constexpr Duration kLostConnectionGrace{2000};
constexpr Duration kBrokenStepGrace{5000};
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
      launcher_(
          host_, plan_, ranks_,
          [this](StepRank* rank, const LaunchOutcome& outcome) { Settle(rank, outcome); },
          [this] { CheckStarted(); }),
      bindings_(host_, plan_, [this] { CheckStarted(); }),
      streams_(host_, plan_, ranks_,
               {.connect = [this](UniqueFd socket) { return Connect(std::move(socket)); },
                .on_opened =
                    [this](absl::Status status) {
                      launcher_.EnterContainer(std::move(status), [this](absl::Status entered) {
                        Opened(std::move(entered));
                      });
                    },
                .on_output_closed = [this] { CheckEnded(); },
                .shares_input = [this] { return pmix_ != nullptr && pmix_->TakesInput(); }}),
      attached_(host_, plan_,
                {.watched =
                     [this] {
                       const bool here = connection_ != nullptr && !connection_->lost() && !ended_;
                       return here ? connection_.get() : nullptr;
                     },
                 .greeting = [this] { return Greeting(); },
                 .on_input =
                     [this](const std::string& data) {
                       if (!streams_.InputFull()) {
                         streams_.TypeIn(data);
                       }
                     }}),
      timers_(host.loop) {}

void Step::Start(PmixGrant pmix) {
  pmix_ = std::move(pmix.pmix);
  bindings_.SetNote(std::move(pmix.note));
  streams_.Open(std::move(pmix.refusal));
  launcher_.MakeGroup();  // meanwhile
}

// Goes on with what Start() has asked for.
void Step::Opened(absl::Status status) {
  const bool recalled = verdict_.terminating();
  if (recalled) {
    status = absl::CancelledError("it was ended before it started");
  }
  if (status.ok() && plan_.step.valid()) {
    launcher_.PrepareRanks();
  }
  for (std::size_t i = 0; i < ranks_.all().size() && status.ok(); ++i) {
    status = streams_.OpenFor(ranks_.all()[i].get());
  }
  for (const std::unique_ptr<StepRank>& rank : ranks_.all()) {
    const bool terminal = streams_.terminal().has_value() && rank->placement.rank == 0;
    const absl::Status launched =
        status.ok() ? launcher_.Start(rank.get(), pmix_.get(), terminal) : status;
    rank->input_end.reset();
    rank->output_end.reset();
    rank->error_end.reset();
    if (!launched.ok()) {
      rank->recalled = recalled;
      // Who waits for a step sees the code that shells have; a script's job can wait.
      const bool later = !plan_.step.valid() && launcher_.image_may_come();
      FailRank(rank.get(), later ? kTryAgainCode : kCannotRun, std::string(launched.message()));
    }
  }
  forked_ = true;
  streams_.Forked();
  if (pmix_ != nullptr && pmix_->TakesInput() && connection_ != nullptr) {
    pmix_->BeginInput({.give = [this](const std::string& data) { streams_.TypeIn(data); },
                       .full = [this] { return streams_.InputFull(); },
                       .pause = [this](bool paused) { connection_->PauseInput(paused); }});
  }
  attached_.ShowThose();
  CheckStarted();
}

absl::StatusOr<StepConnection*> Step::Connect(UniqueFd socket) {
  StepConnectionHandlers handlers;
  handlers.on_input = [this](const std::string& data) {
    if (pmix_ != nullptr && pmix_->TakesInput()) {
      pmix_->Input(data);
    } else {
      streams_.TypeIn(data);
    }
  };
  handlers.on_resize = [this](const TerminalSize& size) {
    if (streams_.terminal().has_value()) {
      streams_.terminal()->Resize(size);
    }
  };
  handlers.on_signal = [this](int signal) { ranks_.Signal(signal); };
  handlers.on_room = [this](std::uint32_t number) {
    if (const StepRank* const rank = ranks_.Numbered(number); rank != nullptr) {
      streams_.Resume(*rank);
    }
  };
  handlers.on_peers = [this](const std::vector<StepPeerAddress>& peers) {
    if (pmix_ != nullptr) {
      pmix_->Meet(peers);
    }
  };
  handlers.on_broken = [this](const StepBreak& why) { BrokenElsewhere(why); };
  handlers.on_lost = [this] { OnConnectionLost(); };
  ASSIGN_OR_RETURN(connection_,
                   StepConnection::Open(host_.loop, host_.closing, std::move(socket),
                                        plan_.program.io.token, Greeting(), std::move(handlers)));
  return connection_.get();
}

StepGreeting Step::Greeting() const {
  StepGreeting greeting;
  greeting.node_index = plan_.node_index;
  greeting.node = host_.order.node_name;
  greeting.ranks = static_cast<std::uint32_t>(ranks_.all().size());
  greeting.exchange = pmix_ == nullptr ? std::vector<std::string>() : pmix_->Addresses();
  for (const NodeAllocation& node : plan_.placement.nodes) {
    greeting.nodes += node.ranks.empty() ? 0 : 1;
  }
  greeting.terminal =
      plan_.has_terminal() && !plan_.node().ranks.empty() && plan_.node().ranks.front().rank == 0;
  return greeting;
}

absl::Status Step::Show(const StepIo& io, bool input) {
  if (streams_.connecting() && attached_.ShowLater(io, input)) {
    return absl::OkStatus();  // once its own client is there
  }
  return attached_.Show(io, input);
}

void Step::Settle(StepRank* rank, const LaunchOutcome& outcome) {
  if (outcome.error == 0) {
    if (rank->awaited == 0) {
      bindings_.Read(rank);
    }
    return;
  }
  rank->awaited = 0;
  const bool not_found = outcome.failed_at == LaunchStage::kExec && outcome.error == ENOENT;
  FailRank(rank, not_found ? kNotFound : kCannotRun, launcher_.FailureText(outcome));
}

void Step::FailRank(StepRank* rank, int code, const std::string& text) {
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

void Step::CheckStarted() {
  if (!forked_ || !ranks_.AllSettled() || started_) {
    return;
  }
  started_ = true;
  if (verdict_.launch_error().empty()) {
    handlers_.on_started();
  }
  bindings_.Report(ranks_);
  if (!verdict_.launch_error().empty()) {
    host_.log.Error("step", verdict_.launch_error());
    Terminate(kBrokenStepGrace);
  }
  CheckEnded();
}

void Step::BeforeReap(pid_t pid) {
  StepRank* rank = ranks_.Find(pid);
  if (rank == nullptr) {
    return;
  }
  launcher_.Hear(rank);
  if (pmix_ != nullptr) {
    pmix_->Hear(rank->placement.rank);
  }
  if (!rank->settled && rank->awaited == 0) {
    bindings_.ReadNow(rank);
  }
}

void Step::Reaped(pid_t pid, int wait_status, const rusage& usage) {
  StepRank* rank = ranks_.Find(pid);
  if (rank == nullptr) {
    return;
  }
  usage_.user_cpu += ToDuration(usage.ru_utime);
  usage_.system_cpu += ToDuration(usage.ru_stime);
  usage_.peak_memory =
      std::max(usage_.peak_memory, Bytes(static_cast<std::uint64_t>(usage.ru_maxrss) * 1024));
  if (rank->awaited != 0 && !TakeRestored(rank, pid, &wait_status)) {
    return;
  }
  rank->pid = 0;
  EndRank(rank, rank->failed ? rank->exit.status : FromWait(wait_status));
  CheckStarted();
  CheckEnded();
}

// False: the rank goes on.
bool Step::TakeRestored(StepRank* rank, pid_t pid, int* wait_status) {
  const RestoreProgress progress = TakeReaped(rank, pid, wait_status);
  if (progress.runs) {
    bindings_.Read(rank);
    CheckStarted();
  }
  if (progress.failure != 0) {
    verdict_.TakeRestoreFailure(progress.failure);
    FailRank(rank, kNotRestored, "it could not be restored");
  }
  return progress.ended;
}

void Step::EndRank(StepRank* rank, ExitStatus status) {
  const std::uint32_t number = rank->placement.rank;
  rank->ended = true;
  rank->exit.time = host_.clock.Now();
  if (rank->exit.status.success()) {
    rank->exit.status = status;
  }
  if (rank->exit.status.signal == SIGKILL && rank->exit.text.empty()) {
    rank->exit.text = launcher_.OutOfMemory();
  }
  if (!rank->exit.status.success() && rank->exit.text.empty()) {
    rank->exit.text = streams_.FullOutput(*rank);
    if (!rank->exit.text.empty()) {
      const std::string node = host_.order.node_name + ": ";
      verdict_.TakeRemark(
          absl::StrCat(plan_.step.valid() ? absl::StrCat("rank ", number, " on ", node) : node,
                       rank->exit.text));
    }
  }
  std::optional<StepVerdict::MpiPart> mpi;
  if (pmix_ != nullptr) {
    mpi = StepVerdict::MpiPart{pmix_->Joined(number), pmix_->EverJoined(number)};
  }
  if (mpi.has_value() && mpi->joined && rank->exit.status.success() && ranks_.OthersMayRun() &&
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
  if ((meaning.fatal || rank->exit.status.signal != 0) && ranks_.OthersMayRun() &&
      !verdict_.terminating()) {
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
  if (StepRank* const caller = ranks_.Numbered(rank);
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
  for (const std::unique_ptr<StepRank>& rank : ranks_.all()) {
    streams_.Resume(*rank);
  }
  if (ranks_.AnyRuns() && !verdict_.terminating()) {
    host_.log.Warning("step", absl::StrCat("the `muster run` of step ", plan_.step.value(),
                                           " is gone; ending its ranks"));
    if (streams_.terminal().has_value()) {
      ranks_.Signal(SIGHUP);  // as a terminal does that is hung up: shells heed no SIGTERM
    }
    Terminate(kLostConnectionGrace);
  }
  CheckEnded();
}

void Step::DropConnection() {
  if (connection_ == nullptr || ended_) {
    return;
  }
  draining_ = true;
  streams_.CloseOutput();
  CheckEnded();
  if (!ended_ && ranks_.AllEnded()) {
    Finish();
  }
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
  if (!streams_.OutputTaken()) {
    if (!draining_) {
      draining_ = true;
      timers_.After(kOutputGrace, [this] {
        streams_.CloseOutput();
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
  launcher_.RemoveGroup();
  if (plan_.step.valid()) {
    StepEnded report;
    report.step = plan_.step;
    report.time = host_.clock.Now();
    std::size_t told = 0;
    for (const std::unique_ptr<StepRank>& rank : ranks_.all()) {
      report.ranks.push_back(rank->exit);
      // They are alike where they are many, and have to fit into a message of the agent's.
      told += rank->exit.text.size();
      if (told > kExitTextsMax) {
        report.ranks.back().text.clear();
      }
    }
    report.usage = usage_;
    host_.reporter.Report(std::move(report), plan_.ends_attempt);
  }
  // From the loop: the owner may destroy this step.
  host_.loop.Post(handlers_.on_ended);
}

}  // namespace muster::agent
