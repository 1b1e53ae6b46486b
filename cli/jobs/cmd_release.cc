#include "cli/controller/controller.h"
#include "cli/frame/verbs.h"
#include "cli/parse/selector.h"
#include "scheduler/base/status.h"

namespace muster::cli {
namespace {

absl::StatusOr<int> Release(const Invocation& invocation) {
  ASSIGN_OR_RETURN(const std::vector<JobSelector> jobs, ParseWholeJobs(invocation.arguments));
  ASSIGN_OR_RETURN(const std::unique_ptr<Connection> connection, OpenController(invocation));
  ASSIGN_OR_RETURN(const ChangeOutcome outcome,
                   connection->Call(ForJobs<HoldJob>{{.held = false}, jobs}));
  return ReportChange("release", outcome);
}

}  // namespace

Verb ReleaseVerb() {
  Verb verb;
  verb.name = "release";
  verb.purpose = "Let held jobs start";
  verb.synopsis = "JOB…";
  verb.examples = {"muster release 12", "muster release 12_[3-5]"};
  verb.arguments_min = 1;
  verb.arguments_max = kAnyNumber;
  verb.run = Release;
  return verb;
}

}  // namespace muster::cli
