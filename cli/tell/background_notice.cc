#include "cli/tell/background_notice.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "cli/controller/controller.h"
#include "cli/controller/job_watch.h"
#include "cli/frame/own_command.h"
#include "cli/parse/selector.h"
#include "cli/tell/desktop.h"
#include "cli/tell/notice_text.h"
#include "cli/tell/terminal.h"
#include "scheduler/base/status.h"
#include "scheduler/model/job/job_state.h"
#include "scheduler/runtime/process.h"
#include "scheduler/runtime/signals.h"
#include "scheduler/runtime/unique_fd.h"

namespace muster::cli {
namespace {

absl::StatusOr<std::vector<JobDetail>> DetailsOf(Connection& connection, const std::string& job) {
  ASSIGN_OR_RETURN(const JobSelector selector, ParseSelector(job));
  return connection.Call(ShowJob{selector});
}

absl::StatusOr<std::vector<JobId>> IdsOf(const std::string& job,
                                         const std::vector<JobDetail>& details) {
  if (details.empty()) {
    return absl::NotFoundError(absl::StrCat("job ", job, ": no such job"));
  }
  std::vector<JobId> ids;
  ids.reserve(details.size());
  for (const JobDetail& each : details) {
    ids.push_back(each.job.id);
  }
  return ids;
}

// Whoever closes the terminal wants no notice there.
void EndWithTerminal() {
  std::thread([] {
    pollfd terminal = {STDOUT_FILENO, 0, 0};
    while (poll(&terminal, 1, -1) < 0) {
    }
    _exit(0);
  }).detach();
}

}  // namespace

absl::StatusOr<std::vector<JobId>> JobsToTell(const std::string& job,
                                              const std::vector<JobDetail>& details) {
  ASSIGN_OR_RETURN(std::vector<JobId> ids, IdsOf(job, details));
  const bool over = std::all_of(details.begin(), details.end(),
                                [](const JobDetail& each) { return IsTerminal(each.job.state); });
  if (over) {
    return absl::FailedPreconditionError(absl::StrCat(
        "job ", job, ": has ended as ", details.front().job.state, "; see muster show ", job));
  }
  return ids;
}

absl::StatusOr<std::vector<JobId>> FindJobsToTell(Connection& connection, const std::string& job) {
  ASSIGN_OR_RETURN(const std::vector<JobDetail> details, DetailsOf(connection, job));
  ASSIGN_OR_RETURN(std::vector<JobId> ids, JobsToTell(job, details));
  // Whose it is, the controller knows.
  RETURN_IF_ERROR(connection.WatchJob(ids.front(), [](const JobNews&) { return false; }));
  return ids;
}

absl::Status StartNotice(const Invocation& invocation, const std::string& job, int terminal) {
  SpawnRequest request;
  ASSIGN_OR_RETURN(request.arguments, OwnCommand(invocation, "tell"));
  request.program = request.arguments.front();
  request.arguments.push_back(absl::StrCat("--", kWaits));
  if (terminal < 0) {
    request.arguments.push_back(absl::StrCat("--", kDesktop));
  }
  request.arguments.push_back(job);
  request.environment = invocation.environment.entries();
  request.working_directory = "/";
  const UniqueFd null(open("/dev/null", O_RDWR | O_CLOEXEC));
  request.fds = {{null.get(), STDIN_FILENO},
                 {terminal < 0 ? null.get() : terminal, STDOUT_FILENO},
                 {null.get(), STDERR_FILENO}};
  request.new_session = true;
  return Spawn(request).status();
}

absl::StatusOr<int> RunNotice(const Invocation& invocation, const std::string& job) {
  IgnoreBrokenPipes();
  const bool desktop = invocation.Has(kDesktop);
  if (!desktop) {
    RETURN_IF_ERROR(CheckTerminal(STDOUT_FILENO));
    EndWithTerminal();
  }
  ASSIGN_OR_RETURN(const std::unique_ptr<Connection> connection, OpenController(invocation));
  // They may have ended since the notice was asked for: that is told, too.
  ASSIGN_OR_RETURN(const std::vector<JobDetail> details, DetailsOf(*connection, job));
  ASSIGN_OR_RETURN(const std::vector<JobId> jobs, IdsOf(job, details));
  std::vector<JobView> ended;
  for (const JobId each : jobs) {
    ASSIGN_OR_RETURN(JobView view, WaitForEnd(*connection, each));
    ended.push_back(std::move(view));
  }
  const std::string text = NoticeText(job, ended);
  RETURN_IF_ERROR(desktop ? ShowOnDesktop(invocation.environment, text)
                          : WriteNotice(STDOUT_FILENO, text));
  return 0;
}

}  // namespace muster::cli
