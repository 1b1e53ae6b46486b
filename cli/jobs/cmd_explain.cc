#include <unistd.h>

#include "absl/strings/str_cat.h"
#include "cli/controller/controller.h"
#include "cli/controller/query/documents.h"
#include "cli/controller/query/job_query.h"
#include "cli/controller/query/newest_job.h"
#include "cli/frame/output.h"
#include "cli/frame/verbs.h"
#include "cli/jobs/awaited_jobs.h"
#include "cli/parse/selector.h"
#include "cli/sheet/explanation_sheet.h"
#include "scheduler/base/status.h"
#include "scheduler/runtime/clock.h"

namespace muster::cli {
namespace {

absl::StatusOr<int> Explain(const Invocation& invocation) {
  ASSIGN_OR_RETURN(const std::vector<std::string> names, WithNumbers(invocation));
  ASSIGN_OR_RETURN(const JobSelector job, ParseSelector(names.front()));
  if (job.elements.size() > 1) {
    return absl::InvalidArgumentError("name one job, or one element like 12_3");
  }
  ASSIGN_OR_RETURN(const std::unique_ptr<Connection> connection, OpenController(invocation));
  ASSIGN_OR_RETURN(const JobExplanation explanation, connection->Call(ExplainJob{ById(job)}));
  if (job.component.has_value() && Select({explanation.job}, {job}).empty()) {
    return absl::NotFoundError(absl::StrCat("job ", ToText(job), ": no such job"));
  }
  if (invocation.Has("json")) {
    RETURN_IF_ERROR(WriteOut(ExplanationDocument(explanation)));
    return 0;
  }
  const auto awaited = AwaitedJobs(*connection, explanation.job);
  RETURN_IF_ERROR(
      WriteOut(absl::StrCat(PrintExplanation(explanation, SystemClock().Now(),
                                             StyleFor(invocation.environment, STDOUT_FILENO)),
                            awaited.ok() ? AwaitedText(explanation.job, *awaited) : "")));
  return 0;
}

}  // namespace

Verb ExplainVerb() {
  Verb verb;
  verb.name = "explain";
  verb.purpose = "Say why a job waits, why it runs where it does, or how it ended";
  verb.synopsis = "JOB";
  verb.examples = {"muster explain 12", "muster explain --json 12_3"};
  verb.options = {JsonOption()};
  verb.arguments_min = 1;
  verb.arguments_max = 1;
  verb.run = Explain;
  return verb;
}

}  // namespace muster::cli
