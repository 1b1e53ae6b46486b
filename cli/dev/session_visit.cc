#include "cli/dev/session_visit.h"

#include <poll.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <iostream>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "cli/connect/relayed_port.h"
#include "cli/dev/session_place.h"
#include "cli/frame/own_command.h"
#include "cli/jobs/submit/staged_submission.h"
#include "cli/page/text.h"
#include "cli/run/entered_step.h"
#include "scheduler/base/status.h"
#include "scheduler/model/job/job_state.h"
#include "scheduler/runtime/signals.h"

namespace muster::cli {
namespace {

constexpr int kFirstPauseMs = 100;
constexpr int kPauseMaxMs = 2'000;
constexpr int kSignalExitBase = 128;
constexpr std::chrono::seconds kJobEndPatience{15};
constexpr std::chrono::milliseconds kEndPause{200};
constexpr int kRunsPatienceMs = 3'000;

absl::StatusOr<JobView> Show(Connection& connection, JobId job) {
  ASSIGN_OR_RETURN(const std::vector<JobDetail> jobs,
                   connection.Call(ShowJob{.job = {.job = job}}));
  return jobs.front().job;
}

void Tell(JobId job, const std::string& what) {
  std::cerr << absl::StrCat("muster dev: job ", job.value(), " ", what, "\n") << std::flush;
}

std::string EndText(const JobView& job) {
  const std::string why = job.exit_text.empty() ? job.reason.text : job.exit_text;
  return absl::StrCat("has ended: ", job.state, why.empty() ? "" : ": ", Printable(why),
                      "; muster logs ", job.id.value(), " shows what it wrote");
}

std::string GoesOn(JobId job) {
  return absl::StrCat("goes on; muster dev ", job.value(), " comes back to it");
}

absl::Status TakeBack(Connection& connection, JobId job) {
  RETURN_IF_ERROR(CancelWithStageIns(connection, job));
  Tell(job, "is taken back");
  return absl::OkStatus();
}

// The way in has ended: says whether the job has, too. One that ends is waited for a while, and one
// that still runs for a moment, if it was not its user who left: the node tells of its end later.
absl::StatusOr<int> HowItStands(Connection& connection, JobId job, int code) {
  const auto begun = std::chrono::steady_clock::now();
  for (;;) {
    ASSIGN_OR_RETURN(const JobView view, Show(connection, job));
    const bool runs = view.state == Name(JobState::kRunning);
    const std::chrono::milliseconds patience =
        !runs ? kJobEndPatience : std::chrono::milliseconds(code == 0 ? 0 : kRunsPatienceMs);
    if (!IsTerminal(view.state) && std::chrono::steady_clock::now() - begun < patience) {
      std::this_thread::sleep_for(kEndPause);
      continue;
    }
    Tell(job, runs ? GoesOn(job) : IsTerminal(view.state) ? EndText(view) : "is " + view.state);
    return runs ? code : 1;
  }
}

absl::StatusOr<int> OpenShell(const Invocation& invocation, const std::string& self, JobId job) {
  EnteringCommand command;
  command.verb = "dev";
  command.job = absl::StrCat(job.value());
  command.argv = {self, "dev", "--enter"};
  command.terminal = true;
  command.quiet = true;
  return RunInside(invocation, command);
}

}  // namespace

absl::Status AwaitStart(Connection& connection, JobId job, const UniqueFd& signals,
                        bool takes_back) {
  std::string told;
  for (int pause = kFirstPauseMs;; pause = std::min(2 * pause, kPauseMaxMs)) {
    ASSIGN_OR_RETURN(const JobView view, Show(connection, job));
    if (IsTerminal(view.state)) {
      return absl::FailedPreconditionError(absl::StrCat("job ", job.value(), " ", EndText(view)));
    }
    if (view.state == Name(JobState::kRunning)) {
      return absl::OkStatus();
    }
    if (const std::string& why = view.reason.text; why != told && pause > kFirstPauseMs) {
      told = why;
      Tell(job, absl::StrCat("waits: ", Printable(why)));
    }
    pollfd watched = {signals.get(), POLLIN, 0};
    if (poll(&watched, 1, pause) == 1) {
      if (takes_back) {
        RETURN_IF_ERROR(TakeBack(connection, job));
      }
      return absl::CancelledError("interrupted");
    }
  }
}

absl::StatusOr<int> VisitSession(const Invocation& invocation, Connection& connection, JobId job,
                                 std::uint16_t local_port, const UniqueFd& signals) {
  ASSIGN_OR_RETURN(const std::string self, OwnProgram());
  std::string said;
  EnteringCommand asking;
  asking.verb = "dev";
  asking.job = absl::StrCat(job.value());
  asking.argv = {self, "dev", "--await"};
  asking.quiet = true;
  asking.input = false;  // what is typed meanwhile is for the shell
  asking.passes = [&said](std::string_view piece) {
    said.append(piece);
    return std::string_view();
  };
  const absl::StatusOr<int> found = RunInside(invocation, asking);
  const absl::StatusOr<SessionDoor> door = ReadDoor(said);
  if (found.value_or(1) != 0 || !door.ok()) {
    ASSIGN_OR_RETURN(const JobView view, Show(connection, job));
    if (view.state == Name(JobState::kRunning)) {
      RETURN_IF_ERROR(found.status());
    }
    return HowItStands(connection, job, std::max(found.value_or(1), 1));
  }
  if (door->port == 0) {
    ASSIGN_OR_RETURN(const int code, OpenShell(invocation, self, job));
    return code > kSignalExitBase ? HowItStands(connection, job, code) : code;
  }
  ForwardedPort port;
  port.local = local_port;
  port.port = door->port;
  ASSIGN_OR_RETURN(
      const int code,
      ServePort(
          invocation, absl::StrCat(job.value()), port, signals.get(), [&](std::uint16_t local) {
            std::cout << "http://127.0.0.1:" << local << door->url << std::endl;
            Tell(job, absl::StrCat("is reached there until Ctrl-C; muster dev ", job.value(),
                                   " comes back to it, muster cancel ", job.value(), " ends it"));
          }));
  return HowItStands(connection, job, code);
}

}  // namespace muster::cli
