#include "cli/cmd_cancel.h"

#include "cli/controller.h"
#include "scheduler/base/status.h"

namespace muster {
namespace {

absl::StatusOr<int> Cancel(const Invocation& invocation) {
  const bool all = invocation.Has("all");
  if (all == !invocation.arguments.empty()) {
    return absl::InvalidArgumentError("name jobs, like 12 or 12_[3-5], or give --all");
  }
  ASSIGN_OR_RETURN(const std::vector<JobSelector> jobs, ParseWholeJobs(invocation.arguments));
  ASSIGN_OR_RETURN(const std::unique_ptr<Connection> connection, OpenController(invocation));
  ASSIGN_OR_RETURN(const ChangeOutcome outcome, connection->Cancel(jobs, all));
  return ReportChange("cancel", outcome);
}

}  // namespace

Verb CancelVerb() {
  Verb verb;
  verb.name = "cancel";
  verb.purpose = "End jobs: pending ones at once, running ones by SIGTERM and then SIGKILL";
  verb.synopsis = "JOB… | --all";
  verb.examples = {"muster cancel 12", "muster cancel 12_3 14_[0-9]", "muster cancel --all"};
  verb.options = {{.name = "all", .letter = 0, .metavar = "", .text = "All of your own jobs"}};
  verb.arguments_max = kAnyNumber;
  verb.run = Cancel;
  return verb;
}

}  // namespace muster
