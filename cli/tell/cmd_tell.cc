#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "cli/controller/controller.h"
#include "cli/controller/query/newest_job.h"
#include "cli/frame/verbs.h"
#include "cli/tell/background_notice.h"
#include "cli/tell/desktop.h"
#include "cli/tell/terminal.h"
#include "scheduler/base/status.h"

namespace muster::cli {
namespace {

absl::StatusOr<int> Tell(const Invocation& invocation) {
  if (invocation.Has(kWaits)) {
    return RunNotice(invocation, invocation.arguments.front());
  }
  const bool desktop = invocation.Has(kDesktop);
  UniqueFd terminal;
  if (desktop) {
    RETURN_IF_ERROR(CheckDesktop(invocation.environment));
  } else {
    ASSIGN_OR_RETURN(terminal, FindTerminal());
  }
  ASSIGN_OR_RETURN(const std::vector<std::string> jobs, WithNumbers(invocation));
  ASSIGN_OR_RETURN(const std::unique_ptr<Connection> connection, OpenController(invocation));
  for (const std::string& job : jobs) {
    RETURN_IF_ERROR(FindJobsToTell(*connection, job).status());
  }
  for (const std::string& job : jobs) {
    RETURN_IF_ERROR(StartNotice(invocation, job, terminal.get()));
    std::cout << "job " << job << ": its end will be told " << (desktop ? "on the desktop" : "here")
              << std::endl;
  }
  return 0;
}

}  // namespace

Verb TellVerb() {
  Verb verb;
  verb.name = "tell";
  verb.purpose = "Write a line to this terminal, or show it on the desktop, when a job has ended";
  verb.synopsis = "[--desktop] JOB…";
  verb.examples = {"muster tell last", "muster tell 12 13_4", "muster tell --desktop train",
                   "muster submit --tell train.sh"};
  verb.remarks =
      "A process of yours waits in the background, and goes with the terminal. `mesg n` keeps\n"
      "messages out. With --desktop it waits as long as the job, and shows the line by "
      "notify-send.\n"
      "Of an array, one line when all its elements have ended.";
  verb.options = {{.name = kDesktop,
                   .letter = 0,
                   .metavar = "",
                   .text = "Show it on the desktop of this session"},
                  {.name = kWaits, .letter = 0, .metavar = "", .text = ""}};
  verb.arguments_min = 1;
  verb.arguments_max = 16;
  verb.run = Tell;
  return verb;
}

}  // namespace muster::cli
