#include <algorithm>
#include <iostream>

#include "absl/strings/str_cat.h"
#include "cli/controller/controller.h"
#include "cli/controller/query/job_history.h"
#include "cli/controller/query/job_query.h"
#include "cli/controller/query/newest_job.h"
#include "cli/frame/verbs.h"
#include "cli/jobs/submit/resubmission.h"
#include "cli/jobs/submit/staged_submission.h"
#include "cli/parse/selector.h"
#include "cli/request/request.h"
#include "scheduler/base/status.h"
#include "scheduler/runtime/clock.h"

namespace muster::cli {
namespace {

// Those of the wanted elements that failed.
absl::StatusOr<std::vector<std::uint32_t>> Failed(Connection& connection,
                                                  const JobSelector& selector,
                                                  const Submission& submission) {
  ListHistory question;
  question.jobs = {submission.first};
  ASSIGN_OR_RETURN(const std::vector<JobView> jobs, JobsSince(connection, question));
  std::vector<std::uint32_t> failed = FailedOf(jobs);
  if (!selector.elements.empty()) {
    std::erase_if(failed, [&selector](std::uint32_t element) {
      return !std::binary_search(selector.elements.begin(), selector.elements.end(), element);
    });
  }
  if (failed.empty()) {
    return absl::FailedPreconditionError(
        absl::StrCat("job ", ToText(selector), ": nothing of it has failed"));
  }
  return failed;
}

absl::StatusOr<int> Rerun(const Invocation& invocation) {
  ASSIGN_OR_RETURN(const Address address, AddressOf(invocation));
  ASSIGN_OR_RETURN(const std::vector<std::string> names, WithNumbers(invocation));
  ASSIGN_OR_RETURN(const std::vector<JobSelector> jobs, ParseWholeJobs(names));
  const JobSelector& job = jobs.front();
  ASSIGN_OR_RETURN(const std::unique_ptr<Connection> connection, Connection::Open(address));
  ASSIGN_OR_RETURN(const Submission before, connection->Call(ReadSubmission{job.job}));
  std::vector<std::uint32_t> elements = job.elements;
  if (invocation.Has("failed")) {
    ASSIGN_OR_RETURN(elements, Failed(*connection, job, before));
    if (!before.spec.array.has_value()) {
      elements.clear();
    }
  }
  ASSIGN_OR_RETURN(JobRequest request, RequestAgain(before, elements, SystemClock().Now()));
  request.spec.held = invocation.Has("hold");
  RETURN_IF_ERROR(CompleteRequest(
      {.environment = invocation.environment, .local = IsLocal(address), .fallback = "job"},
      &request));
  ASSIGN_OR_RETURN(const std::string token, MakeToken());
  ASSIGN_OR_RETURN(const StagedJobs submitted, SubmitWithCopies(*connection, token, request));
  std::cout << (invocation.Has("parsable") ? "" : "Submitted batch job ") << submitted.job.value()
            << std::endl;
  TellCopies("muster rerun", submitted);
  return 0;
}

}  // namespace

Verb RerunVerb() {
  Verb verb;
  verb.name = "rerun";
  verb.purpose = "Submit a job again as it was submitted, or those of its elements that failed";
  verb.synopsis = "JOB";
  verb.examples = {"muster rerun 12 --failed", "muster rerun 12_[3-5]", "muster rerun last --hold"};
  verb.remarks =
      "It is a new job with a new number, with the same script, arguments, directory and request,\n"
      "and the environment of this shell. Scripts of jobs that have ended are kept by\n"
      "personal clusters, and where the controller has [retention] keep_script = true.";
  verb.options = {
      {.name = "failed",
       .letter = 0,
       .metavar = "",
       .text = "Of an array, only the elements that ended otherwise than COMPLETED"},
      {.name = "hold",
       .letter = 'H',
       .metavar = "",
       .text = "Hold it until muster release lets it go; muster update changes it before"},
      {.name = "parsable", .letter = 0, .metavar = "", .text = "Print the number alone"}};
  verb.arguments_min = 1;
  verb.arguments_max = 1;
  verb.run = Rerun;
  return verb;
}

}  // namespace muster::cli
