#include "cli/run/alloc_session.h"

#include <sys/epoll.h>
#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <iostream>
#include <utility>

#include "absl/strings/str_cat.h"
#include "cli/jobs/submit/staged_submission.h"
#include "scheduler/base/status.h"
#include "scheduler/base/text/host_list.h"
#include "scheduler/base/utf8.h"
#include "scheduler/model/job/job_state.h"
#include "scheduler/runtime/process.h"
#include "scheduler/runtime/program/child_end.h"
#include "scheduler/runtime/signals.h"

namespace muster::cli {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kAllocWaitingPause{400};    // no word of a job that starts at once
constexpr milliseconds kNodesPatience{1'000};      // for the controller's word before it
constexpr milliseconds kAllocEndPatience{10'000};  // for the controller's word after the command
constexpr int kCannotRun = 126;                    // as shells say

std::string NodesOf(const JobNews& news) {
  std::vector<std::string> names;
  for (const NodeAllocation& node : news.allocation.nodes) {
    names.push_back(node.name);
  }
  return CompressHostlist(names);
}

}  // namespace

AllocTexts OwnAllocTexts() {
  return {.speaker = "muster",
          .pending =
              [](JobId job, const std::string& why) {
                return absl::StrCat("job ", job.value(), " waits: ", why);
              },
          .granted =
              [](JobId job, const std::string& nodes) {
                return absl::StrCat("job ", job.value(), " is allocated", nodes.empty() ? "" : ": ",
                                    nodes);
              },
          .ended =
              [](JobId job, const std::string& how) {
                return absl::StrCat("job ", job.value(), " ended: ", how);
              },
          .relinquished = [](JobId) { return std::string(); }};
}

std::string AllocationScript() {
  return "#!/bin/sh\n"
         "# Made by muster alloc: sends its environment, then waits for the exit code.\n"
         "cat /proc/$$/environ && printf '\\0' || exit 1\n"
         "exec >/dev/null\n"
         "read -r code\n"
         "exit \"${code:-1}\"\n";
}

AllocSession::AllocSession(EventLoop& loop, Connection& connection, StepListener& listener,
                           const UniqueFd& signals, AllocPlan plan)
    : loop_(loop),
      connection_(connection),
      listener_(listener),
      signals_(signals),
      plan_(std::move(plan)),
      // How the script ends is the job's end, which the controller tells.
      step_(plan_.token, /*label=*/false,
            {.write = [this](const RankSource&, bool error,
                             std::string_view bytes) { OnOutput(error, bytes); },
             .tell = [](const std::string&) {}}) {
  step_.Expect(1);
}

AllocSession::~AllocSession() {
  loop_.Unwatch(signals_.get());
}

absl::StatusOr<int> AllocSession::Run() {
  RETURN_IF_ERROR(listener_.Start(&step_, [] {}));
  RETURN_IF_ERROR(loop_.Watch(signals_.get(), EPOLLIN, [this](std::uint32_t) { OnSignals(); }));
  watch_ = std::make_unique<JobWatch>(
      connection_, plan_.job, loop_, [this](const JobNews& news) { OnNews(news); },
      [this](const absl::Status& status) {
        Tell(std::string(status.message()));
        job_ended_ = true;
        JobEnded();
      });
  const absl::Status ran = loop_.Run();
  connection_.StopWatching();
  watch_.reset();
  RETURN_IF_ERROR(ran);
  return exit_code_;
}

void AllocSession::OnNews(const JobNews& news) {
  news_ = news;
  if (IsTerminal(news.job.state)) {
    job_ended_ = true;
    if (!released_) {
      const std::string& text =
          news.job.exit_text.empty() ? news.job.reason.text : news.job.exit_text;
      Tell(plan_.texts.ended(
          plan_.job, absl::StrCat(news.job.state, text.empty() ? "" : ": ", EscapeControl(text))));
    }
    JobEnded();
  } else if (begun_ && !NodesOf(news_).empty()) {
    Begin();
  } else if (IsWaiting(news.job.state)) {
    loop_.RunAfter(kAllocWaitingPause, [this] { TellWaiting(); });
  }
}

void AllocSession::JobEnded() {
  if (child_.has_value()) {
    // As when its terminal goes: a shell ends, and what wants to go on does.
    kill(*child_, SIGHUP);
    kill(*child_, SIGCONT);
    return;
  }
  Finish(released_ ? exit_code_ : 1);
}

void AllocSession::TellWaiting() {
  const std::string& why = news_.job.reason.text;
  if (!IsWaiting(news_.job.state) || why.empty()) {
    return;
  }
  const std::string line = plan_.texts.pending(plan_.job, EscapeControl(why));
  if (line != waiting_told_) {
    waiting_told_ = line;
    Tell(line);
  }
}

void AllocSession::OnOutput(bool error, std::string_view bytes) {
  if (error) {
    std::cerr << bytes << std::flush;
  } else if (reader_.Take(bytes) && !begun_ && !job_ended_) {
    begun_ = true;
    // The script may be heard before the news of where it runs.
    loop_.RunAfter(NodesOf(news_).empty() ? kNodesPatience : milliseconds(0), [this] { Begin(); });
  }
}

void AllocSession::Begin() {
  if (job_ended_ || std::exchange(in_hand_, true)) {
    return;
  }
  const std::string nodes = NodesOf(news_);
  Tell(plan_.texts.granted(plan_.job, nodes));
  SpawnRequest request;
  request.program = plan_.program;
  request.arguments = plan_.command;
  request.environment = EnvironmentInside(plan_.environment, reader_.entries(), plan_.controller);
  request.working_directory = plan_.work_dir;
  const absl::StatusOr<pid_t> child = Spawn(request);
  if (!child.ok()) {
    Tell(absl::StrCat(plan_.command.front(), ": ", std::string(child.status().message())));
    Release(kCannotRun);
    return;
  }
  child_ = *child;
}

void AllocSession::OnSignals() {
  while (const std::optional<SignalEvent> event = TakeSignal(signals_)) {
    OnSignal(event->number);
  }
}

void AllocSession::OnSignal(int signal) {
  if (signal == SIGCHLD) {
    Reap();
  } else if (!begun_) {
    GiveUp(signal);
  } else if (child_.has_value() && signal != SIGINT && signal != SIGQUIT) {
    kill(*child_, signal);  // those two the terminal sends to the command itself
  }
}

void AllocSession::Reap() {
  int status = 0;
  if (!child_.has_value() || waitpid(*child_, &status, WNOHANG) != *child_) {
    return;
  }
  child_.reset();
  Release(ShellCode(status));
}

// The command is done: the script ends with its code, and with it the job.
void AllocSession::Release(int code) {
  released_ = true;
  exit_code_ = code;
  Tell(plan_.texts.relinquished(plan_.job));
  if (job_ended_) {
    Finish(std::max(code, 1));
    return;
  }
  if (step_.Lost()) {
    CancelJob();
  }
  wire::StepFrame frame;
  frame.mutable_input()->set_data(absl::StrCat(code, "\n"));
  listener_.SendToAll(frame);
  loop_.RunAfter(kAllocEndPatience, [this] { Finish(exit_code_); });
}

void AllocSession::GiveUp(int signal) {
  CancelJob();
  Tell(absl::StrCat("job ", plan_.job.value(), " cancelled"));
  Finish(kShellSignalBase + signal);
}

void AllocSession::CancelJob() {
  const absl::Status cancelled = CancelWithStageIns(connection_, plan_.job);
  if (!cancelled.ok()) {
    Tell(absl::StrCat("job ", plan_.job.value(),
                      " is not cancelled: ", std::string(cancelled.message())));
  }
}

void AllocSession::Tell(const std::string& line) const {
  if (line.empty()) {
    return;
  }
  std::cerr << absl::StrCat(plan_.texts.speaker, ": ", line, "\n") << std::flush;
}

void AllocSession::Finish(int code) {
  exit_code_ = code;
  loop_.Stop();
}

}  // namespace muster::cli
