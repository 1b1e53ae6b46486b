#include "cli/controller/controller.h"
#include "cli/frame/verbs.h"
#include "cli/parse/selector.h"
#include "scheduler/base/status.h"

namespace muster::cli {
namespace {

absl::StatusOr<int> Suspend(const Invocation& invocation) {
  ASSIGN_OR_RETURN(const std::vector<JobSelector> jobs, ParseSelectors(invocation.arguments));
  ASSIGN_OR_RETURN(const std::unique_ptr<Connection> connection, OpenController(invocation));
  ASSIGN_OR_RETURN(const ChangeOutcome outcome,
                   connection->Call(ForJobs<SuspendJob>{{.suspended = true}, jobs}));
  return ReportChange("suspend", outcome);
}

}  // namespace

Verb SuspendVerb() {
  Verb verb;
  verb.name = "suspend";
  verb.purpose = "Take running jobs off their cores until they are resumed";
  verb.synopsis = "JOB…";
  verb.examples = {"muster suspend 12", "muster suspend 12_[3-5]"};
  verb.remarks =
      "The job's processes are frozen. It keeps its memory, its GPUs and its licences; others may\n"
      "have its cores, which it gets back after muster resume as soon as they are free. The time\n"
      "counts neither against its limit nor as usage. Only operators suspend jobs.";
  verb.arguments_min = 1;
  verb.arguments_max = kAnyNumber;
  verb.run = Suspend;
  return verb;
}

}  // namespace muster::cli
