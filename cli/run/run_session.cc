#include "cli/run/run_session.h"

#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>

#include "absl/strings/str_cat.h"
#include "cli/jobs/submit/staged_submission.h"
#include "scheduler/base/status.h"
#include "scheduler/base/utf8.h"
#include "scheduler/model/job/job_state.h"
#include "scheduler/runtime/signals.h"

namespace muster::cli {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kSecondInterrupt{1'000};
constexpr milliseconds kWaitingPause{400};       // no word of a job that starts at once
constexpr milliseconds kWatchPause{300};         // a step that is over by then tells all itself
constexpr milliseconds kJobEndPatience{10'000};  // for the controller's word after the step's end
constexpr milliseconds kOutputPatience{10'000};  // for the step's output after the job's end
constexpr milliseconds kWordPatience{60'000};    // for the controller's word on ranks that are lost
constexpr milliseconds kWordAgain{500};
constexpr milliseconds kLossPause{2'000};       // it may say at once how they ended
constexpr milliseconds kStepPatience{60'000};   // for a step's first node to appear
constexpr milliseconds kLookPatience{10'000};   // for a node to show a step
constexpr milliseconds kAskAgain{5'000};        // whether a step that waits still does
constexpr milliseconds kGonePatience{2'000};    // for the first word of a step that seems gone
constexpr milliseconds kInterruptGrace{5'000};  // from the SIGINT of a second Ctrl-C to SIGKILL
constexpr int kSignalBase = 128;

std::uint32_t NodesWithRanks(const Allocation& allocation) {
  return static_cast<std::uint32_t>(
      std::count_if(allocation.nodes.begin(), allocation.nodes.end(),
                    [](const NodeAllocation& node) { return !node.ranks.empty(); }));
}

}  // namespace

RunSession::RunSession(EventLoop& loop, Connection& connection, StepListener& listener,
                       const UniqueFd& signals, RunPlan plan)
    : loop_(loop),
      connection_(connection),
      listener_(listener),
      signals_(signals),
      plan_(std::move(plan)),
      step_(plan_.token, plan_.label,
            {.write = [this](const RankSource& rank, bool error,
                             std::string_view bytes) { Write(rank, error, bytes); },
             .tell =
                 [this](const std::string& line) {
                   if (!plan_.quiet) {
                     Tell(line);
                   }
                 }}),
      files_(plan_.output),
      input_(loop, plan_.input, listener),
      news_(plan_.component_tokens.size() + 1) {
  for (const std::string& token : plan_.component_tokens) {
    step_.AddComponent(token);
  }
  files_.Name(plan_.names);
  input_.Pace(plan_.input_rate);
  if (plan_.end_on_bad_exit) {
    step_.EndOnBadExit();
  }
  if (plan_.looks_on) {
    constexpr char kLeave = 0x1d;  // Ctrl-]
    input_.LeaveOn(kLeave, [this] { Finish(0); });
  }
}

RunSession::~RunSession() {
  loop_.Unwatch(signals_.get());
}

absl::StatusOr<int> RunSession::Run() {
  RETURN_IF_ERROR(listener_.Start(&step_, [this] { OnChange(); }));
  RETURN_IF_ERROR(loop_.Watch(signals_.get(), EPOLLIN, [this](std::uint32_t) { OnSignals(); }));
  if (plan_.nodes.has_value()) {
    step_.Expect(*plan_.nodes);
    listener_.SendReplies();
  } else if (plan_.own_job && news_.size() == 1) {
    step_.ExpectAsToldByNodes();  // the first news of a short job may be its end
  }
  if (!plan_.waits.empty()) {
    queued_ = true;
    step_.ExpectAsToldByNodes();
    // The end of the step before it may still be on its way to the controller.
    loop_.RunAfter(kWaitingPause, [this] {
      if (queued_) {
        Tell(absl::StrCat("step of job ", plan_.job.value(),
                          " waits: ", EscapeControl(plan_.waits)));
      }
    });
    loop_.RunAfter(kAskAgain, [this] { AwaitTurn(); });
  } else if (!plan_.own_job) {
    ExpectStep(clock_.SteadyNow() + (plan_.looks_on ? kLookPatience : kStepPatience));
  }
  if (plan_.own_job || plan_.looks_on) {
    WatchJobs();
  } else {
    loop_.RunAfter(kWatchPause, [this] { WatchJobs(); });
  }
  const absl::Status ran = loop_.Run();
  terminal_.Leave();
  connection_.StopWatching();
  watches_.clear();
  RETURN_IF_ERROR(ran);
  step_.Flush();
  return unwritten_ ? std::max(exit_code_, 1) : exit_code_;
}

void RunSession::WatchJobs() {
  for (std::size_t i = watches_.size(); i < news_.size(); ++i) {
    watches_.push_back(std::make_unique<JobWatch>(
        connection_, JobId(plan_.job.value() + i), loop_,
        [this, i](const JobNews& news) { OnNews(i, news); },
        [this](const absl::Status& refused) {
          if (!step_.AnyConnected()) {
            Tell(std::string(refused.message()));
            Finish(1);
          }
        }));
  }
}

// Of a step that another `muster run` watches the controller may have heard the end meanwhile.
void RunSession::ExpectStep(SteadyTime until) {
  loop_.RunAfter(kWordAgain, [this, until] {
    if (step_.AnyConnected()) {
      return;
    }
    const absl::StatusOr<StepView> step =
        plan_.looks_on ? StepNow() : absl::UnavailableError("not asked");
    if (step.ok() && IsTerminal(step->state)) {
      Tell(absl::StrCat("step ", plan_.job.value(), ".", plan_.names.step.value(),
                        ": no such step runs: it has ended: ", step->state));
    } else if (clock_.SteadyNow() >= until) {
      Tell(absl::StrCat("job ", plan_.job.value(),
                        plan_.looks_on ? ": no node shows the step after 10 s"
                                       : ": no node has begun the step after 60 s"));
    } else {
      return ExpectStep(until);
    }
    Finish(1);
  });
}

// Its nodes tell when a step that waited has begun; that it never will, only the controller.
void RunSession::AwaitTurn() {
  if (step_.AnyConnected() || !queued_) {
    return;
  }
  const absl::StatusOr<StartedStep> now = plan_.ask_again();
  if (!now.ok() || !now->waits.empty()) {
    loop_.RunAfter(kAskAgain, [this] { AwaitTurn(); });
    return;
  }
  queued_ = false;
  if (!now->placement.nodes.empty()) {
    ExpectStep(clock_.SteadyNow() + kStepPatience);
    return;
  }
  loop_.RunAfter(kGonePatience, [this] {
    if (!step_.AnyConnected()) {
      Tell(absl::StrCat("step ", plan_.job.value(), ".", plan_.names.step.value(),
                        " will not start; see muster show ", plan_.job.value()));
      Finish(1);
    }
  });
}

// A frame came or a connection ended.
void RunSession::OnChange() {
  if (step_.AnyConnected()) {
    queued_ = false;
  }
  if (step_.AllConnected()) {
    if (plan_.terminal && step_.HasTerminal() && !step_.Done() && !terminal_.raw()) {
      terminal_.Enter();
      Resize();  // it may have changed meanwhile
    }
    if (plan_.input >= 0) {
      input_.Start();
    }
    if (pending_signal_.has_value()) {
      Forward(*std::exchange(pending_signal_, std::nullopt));
    }
  }
  if (plan_.rest_may_take > Duration(0) && step_.AnyEnded() && !std::exchange(rest_timed_, true)) {
    loop_.RunAfter(plan_.rest_may_take, [this] {
      if (!step_.Done()) {
        Tell(absl::StrCat("the first rank ended ", plan_.rest_may_take.count() / 1000,
                          " s ago: the others are ended"));
        KillStep();
      }
    });
  }
  if (step_.Lost() && !std::exchange(loss_seen_, true)) {
    WatchJobs();
    loop_.RunAfter(kLossPause, [this] { TellLoss(); });
  }
  if (step_.Done()) {
    AwaitEnd();
  }
}

// The connections have nothing more to say; of ranks that they did not tell of the controller does.
void RunSession::AwaitEnd() {
  if (std::exchange(finishing_, true)) {
    return;
  }
  if (!plan_.own_job && !Whole() && step_.AnyConnected()) {
    ask_until_ = clock_.SteadyNow() + kWordPatience;
    AskAboutStep();
  } else if (!plan_.own_job || job_ended_) {
    Finish(JobCode());
  } else {
    loop_.RunAfter(Whole() ? kJobEndPatience : kWordPatience, [this] { Finish(JobCode()); });
  }
}

void RunSession::AskAboutStep() {
  const absl::StatusOr<StepView> step = StepNow();
  const bool ended = step.ok() && IsTerminal(step->state);
  if (ended || plan_.looks_on || clock_.SteadyNow() >= ask_until_) {
    Finish(StepCode(step));
  } else {
    loop_.RunAfter(kWordAgain, [this] { AskAboutStep(); });
  }
}

// As the controller has it; of the last attempt.
absl::StatusOr<StepView> RunSession::StepNow() {
  ASSIGN_OR_RETURN(const std::vector<JobDetail> jobs,
                   connection_.Call(ShowJob{{.job = plan_.job}}));
  absl::StatusOr<StepView> last = absl::NotFoundError("the controller does not know it");
  for (const JobDetail& job : jobs) {
    for (const StepView& step : job.steps) {
      if (step.step == plan_.names.step && (!last.ok() || last->attempt <= step.attempt)) {
        last = step;
      }
    }
  }
  return last;
}

// Of all components the one to tell of: that has not ended, else that ended worst.
const JobNews& RunSession::Telling() const {
  const auto unlike = [this](auto&& good) {
    const auto found = std::find_if_not(news_.begin(), news_.end(), good);
    return found == news_.end() ? nullptr : &*found;
  };
  const JobNews* open = unlike([](const JobNews& news) { return IsTerminal(news.job.state); });
  const JobNews* bad = unlike([](const JobNews& news) { return IsSuccess(news.job.state); });
  return open != nullptr ? *open : bad != nullptr ? *bad : news_.front();
}

void RunSession::ExpectNodes() {
  std::uint32_t nodes = 0;
  for (const JobNews& news : news_) {
    if (news.allocation.nodes.empty()) {
      return;
    }
    nodes += NodesWithRanks(news.allocation);
  }
  step_.Expect(nodes);
  listener_.SendReplies();
}

void RunSession::OnNews(std::size_t component, const JobNews& news) {
  news_[component] = news;
  job_ = Telling().job;
  if (plan_.own_job) {
    ExpectNodes();
  }
  if (IsTerminal(job_.state)) {
    JobEnded();
  } else if (finishing_ && plan_.own_job && !Whole() && IsWaiting(job_.state)) {
    Finish(JobCode());  // it begins again, without us
  } else if ((plan_.show_waiting || job_.reason.never) && IsWaiting(job_.state)) {
    loop_.RunAfter(kWaitingPause, [this] { TellWaiting(); });
  }
  OnChange();
}

void RunSession::JobEnded() {
  job_ended_ = true;
  if (finishing_) {
    if (ask_until_ == SteadyTime::max()) {
      Finish(JobCode());
    }
  } else if (!step_.AnyConnected() && (job_.start_time == kNoTime || queued_)) {
    Finish(JobCode());  // it never ran: no output is on its way
  } else {
    // The end may overtake the last output, which comes by another way, and on a busy machine even
    // the first.
    loop_.RunAfter(kOutputPatience, [this] { AwaitEnd(); });
  }
}

// The exit code at the end, and a line when the ranks' own codes do not tell the story.
int RunSession::JobCode() {
  const int code = step_.ExitCode();
  const bool told = IsSuccess(job_.state) || (IsFailure(job_.state) && code != 0);
  if (Whole() && (!job_ended_ || told)) {
    return code;
  }
  TellLoss();
  const std::string what = absl::StrCat("job ", plan_.job.value());
  if (!job_ended_) {
    Tell(job_.state.empty()
             ? absl::StrCat("the controller cannot be asked how ", what, " ended")
             : absl::StrCat("the controller's last word on ", what, " is ", job_.state));
    return std::max(code, 1);
  }
  return CodeOf(what, job_.state, job_.exit_text.empty() ? job_.reason.text : job_.exit_text,
                {.code = job_.exit_code, .signal = job_.exit_signal});
}

int RunSession::StepCode(const absl::StatusOr<StepView>& step) {
  TellLoss();
  const std::string what = absl::StrCat("step ", plan_.job.value(), ".", plan_.names.step.value());
  if (!step.ok() || !IsTerminal(step->state)) {
    Tell(step.ok() ? absl::StrCat("the controller's last word on ", what, " is ", step->state)
                   : absl::StrCat("the controller cannot be asked how ", what,
                                  " ended: ", std::string(step.status().message())));
    return std::max(step_.ExitCode(), 1);
  }
  return CodeOf(what, step->state, step->text, step->exit);
}

// `what` ended so, as the controller says.
int RunSession::CodeOf(const std::string& what, const std::string& state, const std::string& text,
                       const ExitStatus& exit) {
  const bool completed = IsSuccess(state);
  Tell(absl::StrCat(what, " ended: ", state, text.empty() ? "" : ": ", EscapeControl(text),
                    completed ? "; the last of its output may be missing" : ""));
  if (completed) {
    return 0;
  }
  const int of_ranks = step_.ExitCode();
  const int of_all = exit.signal != 0 ? kSignalBase + exit.signal : exit.code;
  return Whole() && of_ranks != 0 ? of_ranks : of_all != 0 ? of_all : std::max(of_ranks, 1);
}

void RunSession::TellLoss() {
  if (step_.Lost() && !std::exchange(loss_told_, true)) {
    Tell(step_.LostText());
  }
}

void RunSession::TellWaiting() {
  const bool waits = IsWaiting(job_.state);
  if (waits && !job_.reason.text.empty() && job_.reason.text != waiting_told_) {
    waiting_told_ = job_.reason.text;
    Tell(absl::StrCat("job ", plan_.job.value(), " waits: ", EscapeControl(job_.reason.text)));
  }
}

void RunSession::OnSignals() {
  while (const std::optional<SignalEvent> event = TakeSignal(signals_)) {
    if (plan_.looks_on && event->number != SIGWINCH) {
      Finish(0);
    } else if (event->number == SIGINT) {
      OnInterrupt();
    } else if (event->number == SIGWINCH) {
      Resize();
    } else {
      Forward(event->number);
    }
  }
}

void RunSession::OnInterrupt() {
  if (!step_.AnyConnected()) {
    InterruptWaiting();
    return;
  }
  if (ending_) {
    KillStep();
    return;
  }
  const SteadyTime now = clock_.SteadyNow();
  const bool again = interrupted_.has_value() && now - *interrupted_ <= kSecondInterrupt;
  interrupted_ = now;
  const std::string name =
      plan_.own_job ? absl::StrCat("job ", plan_.job.value())
                    : absl::StrCat("step ", plan_.job.value(), ".", plan_.names.step.value());
  if (!again && !plan_.end_on_interrupt) {
    Tell(absl::StrCat(name, ": ", step_.RanksText(), "; Ctrl-C again within 1 s ends it"));
    return;
  }
  ending_ = true;
  Tell(absl::StrCat(name, ": sending SIGINT to its ranks; Ctrl-C again kills them"));
  Forward(SIGINT);
  loop_.RunAfter(kInterruptGrace, [this] { KillStep(); });
}

// Nothing of it runs yet, as far as we know.
void RunSession::InterruptWaiting() {
  if (plan_.own_job) {
    GiveUp(SIGINT);
    return;
  }
  const absl::StatusOr<ChangeOutcome> withdrawn = connection_.Call(
      ForJobs<SignalJob>{{.step = plan_.names.step, .signal = 0}, {{.job = plan_.job}}});
  Tell(withdrawn.ok() && withdrawn->errors.empty()
           ? absl::StrCat("step ", plan_.job.value(), ".", plan_.names.step.value(), " cancelled")
           : absl::StrCat("step ", plan_.job.value(), ".", plan_.names.step.value(),
                          " is left to itself: ",
                          withdrawn.ok() ? EscapeControl(withdrawn->errors.front())
                                         : std::string(withdrawn.status().message())));
  Finish(kSignalBase + SIGINT);
}

void RunSession::KillStep() {
  Forward(SIGKILL);
  CancelJob();
}

void RunSession::Resize() {
  if (!terminal_.raw()) {
    return;
  }
  if (const absl::StatusOr<TerminalSize> size = SizeOfTerminal(); size.ok()) {
    wire::StepFrame frame;
    frame.mutable_resize()->set_rows(size->rows);
    frame.mutable_resize()->set_columns(size->columns);
    listener_.SendToAll(frame);
  }
}

// Passes a signal on to the ranks; without ranks there is nothing but the job to end.
void RunSession::Forward(int signal) {
  if (step_.AnyConnected()) {
    wire::StepFrame frame;
    frame.mutable_signal()->set_signal(signal);
    listener_.SendToAll(frame);
  } else if (plan_.own_job) {
    GiveUp(signal);
  } else {
    pending_signal_ = signal;
  }
}

void RunSession::GiveUp(int signal) {
  CancelJob();
  Tell(absl::StrCat("job ", plan_.job.value(), " cancelled"));
  Finish(kSignalBase + signal);
}

void RunSession::CancelJob() {
  if (!plan_.own_job) {
    return;
  }
  const absl::Status cancelled = CancelWithStageIns(connection_, plan_.job);
  if (!cancelled.ok()) {
    Tell(absl::StrCat("job ", plan_.job.value(),
                      " is not cancelled: ", std::string(cancelled.message())));
  }
}

void RunSession::Write(const RankSource& rank, bool error, std::string_view bytes) {
  const absl::StatusOr<RankFiles::Place> place = files_.Write(rank, error, bytes);
  if (!place.ok() && !std::exchange(unwritten_, true)) {
    Tell(std::string(place.status().message()));
  }
  if (!place.ok() || *place == RankFiles::Place::kElsewhere || (broken_ && !error)) {
    return;
  }
  if (plan_.takes && !error) {
    plan_.takes(rank, bytes);
    return;
  }
  const std::string_view passed = plan_.passes && !error ? plan_.passes(bytes) : bytes;
  if (!WriteAll(error ? STDERR_FILENO : STDOUT_FILENO, passed) && !error) {
    // As in a pipeline: who writes to a closed pipe gets SIGPIPE.
    broken_ = true;
    Forward(SIGPIPE);
  }
}

void RunSession::Tell(const std::string& line) {
  (void)WriteAll(STDERR_FILENO, absl::StrCat("muster: ", line, terminal_.raw() ? "\r\n" : "\n"));
}

void RunSession::Finish(int code) {
  exit_code_ = code;
  loop_.Stop();
}

}  // namespace muster::cli
