#include "cli/controller/controller.h"
#include "cli/frame/verbs.h"
#include "cli/parse/selector.h"
#include "scheduler/base/status.h"

namespace muster::cli {
namespace {

absl::StatusOr<int> Requeue(const Invocation& invocation) {
  ASSIGN_OR_RETURN(const std::vector<JobSelector> jobs, ParseWholeJobs(invocation.arguments));
  ASSIGN_OR_RETURN(const std::unique_ptr<Connection> connection, OpenController(invocation));
  ASSIGN_OR_RETURN(const ChangeOutcome outcome, connection->Call(ForJobs<RequeueJob>{{}, jobs}));
  return ReportChange("requeue", outcome);
}

}  // namespace

Verb RequeueVerb() {
  Verb verb;
  verb.name = "requeue";
  verb.purpose = "End the attempts of batch jobs and send the jobs back to the queue";
  verb.synopsis = "JOB…";
  verb.examples = {"muster requeue 12", "muster requeue 12_[3-5]"};
  verb.remarks =
      "The job keeps its number and its place; its next attempt begins again. One that is "
      "requeued\n"
      "more often than the controller allows (policy.requeues_max, 5 unless set) is held.\n"
      "Refused for jobs that were submitted with --no-requeue.";
  verb.arguments_min = 1;
  verb.arguments_max = kAnyNumber;
  verb.run = Requeue;
  return verb;
}

}  // namespace muster::cli
