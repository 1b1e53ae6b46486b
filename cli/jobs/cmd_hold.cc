#include "cli/controller/controller.h"
#include "cli/frame/verbs.h"
#include "cli/parse/selector.h"
#include "scheduler/base/status.h"

namespace muster::cli {
namespace {

absl::StatusOr<int> Hold(const Invocation& invocation) {
  ASSIGN_OR_RETURN(const std::vector<JobSelector> jobs, ParseWholeJobs(invocation.arguments));
  ASSIGN_OR_RETURN(const std::unique_ptr<Connection> connection, OpenController(invocation));
  ASSIGN_OR_RETURN(const ChangeOutcome outcome,
                   connection->Call(ForJobs<HoldJob>{{.held = true}, jobs}));
  return ReportChange("hold", outcome);
}

}  // namespace

Verb HoldVerb() {
  Verb verb;
  verb.name = "hold";
  verb.purpose = "Keep pending jobs from starting until they are released";
  verb.synopsis = "JOB…";
  verb.examples = {"muster hold 12", "muster hold 12_[3-5]"};
  verb.arguments_min = 1;
  verb.arguments_max = kAnyNumber;
  verb.run = Hold;
  return verb;
}

}  // namespace muster::cli
