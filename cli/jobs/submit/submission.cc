#include "cli/jobs/submit/submission.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "cli/controller/job_watch.h"
#include "cli/page/text.h"
#include "cli/parse/array.h"
#include "cli/parse/request/directives.h"
#include "cli/request/job_options.h"
#include "scheduler/base/status.h"
#include "scheduler/model/job/array.h"
#include "scheduler/model/job/job_state.h"
#include "scheduler/runtime/clock.h"

namespace muster::cli {
namespace {

// The directives of each component; as many as the script or the command line has.
absl::StatusOr<std::vector<std::vector<GivenOption>>> DirectivesOf(const Script& script,
                                                                   std::size_t components) {
  absl::StatusOr<std::vector<DirectiveLine>> lines = ParseDirectives(script.text);
  if (!lines.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat(script.name, ":", std::string(lines.status().message())));
  }
  std::vector<std::vector<GivenOption>> directives;
  for (const std::vector<DirectiveLine>& own : SplitComponents(*lines)) {
    ASSIGN_OR_RETURN(std::vector<GivenOption> given, ReadDirectives(own, script.name));
    directives.push_back(std::move(given));
  }
  directives.resize(std::max(directives.size(), components));
  return directives;
}

// The components after the first, of options alone: the script is the first one's.
absl::StatusOr<std::vector<Component>> ReadComponents(
    const Invocation& invocation, const std::vector<std::vector<GivenOption>>& directives,
    const std::vector<GivenOption>& environment, const JobRequest& first,
    const ParseContext& context) {
  static const std::map<std::string, std::string> nothing;
  std::vector<Component> components;
  for (std::size_t i = 1; i < directives.size(); ++i) {
    const bool said = i <= invocation.components.size();
    absl::StatusOr<JobRequest> request =
        ReadComponentOptions({invocation.values, directives.front()},
                             {said ? invocation.components[i - 1].values : nothing, directives[i]},
                             environment, JobVerb::kSubmit, context);
    if (!request.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat("component ", i, ": ", std::string(request.status().message())));
    }
    if (request->spec.name.empty()) {
      request->spec.name = first.spec.name;
    }
    components.push_back(Component{std::move(request->spec), Program()});
  }
  return components;
}

}  // namespace

absl::StatusOr<JobRequest> MakeSubmission(const Invocation& invocation, const Address& address,
                                          const Script& script) {
  const ParseContext context{.now = SystemClock().Now(), .zone = absl::LocalTimeZone()};
  ASSIGN_OR_RETURN(const std::vector<std::vector<GivenOption>> directives,
                   DirectivesOf(script, invocation.components.size() + 1));
  std::vector<GivenOption> first = directives.front();
  ASSIGN_OR_RETURN(const std::vector<GivenOption> environment,
                   OptionsFrom(invocation.environment, JobVerb::kSubmit));
  first.insert(first.end(), environment.begin(), environment.end());
  ASSIGN_OR_RETURN(JobRequest request,
                   ReadJobOptions(invocation.values, first, JobVerb::kSubmit, context));
  RETURN_IF_ERROR(CheckStaging(request));
  if (!invocation.arguments.empty()) {
    request.program.argv.assign(invocation.arguments.begin() + 1, invocation.arguments.end());
  }
  RETURN_IF_ERROR(CheckArguments(request.program.argv));
  request.program.script = script.text;
  RETURN_IF_ERROR(CompleteRequest({.environment = invocation.environment,
                                   .local = IsLocal(address),
                                   .new_job = true,
                                   .fallback = script.name},
                                  &request));
  ASSIGN_OR_RETURN(request.components,
                   ReadComponents(invocation, directives, environment, request, context));
  return request;
}

absl::StatusOr<int> WaitForAll(Connection& connection, JobId first, const JobRequest& request) {
  const std::size_t elements = request.spec.array.has_value()
                                   ? ArrayIndices(*request.spec.array).size()
                                   : request.components.size() + 1;
  int highest = 0;
  JobId job = first;
  for (std::size_t i = 0; i < elements; ++i, job = job.Next()) {
    ASSIGN_OR_RETURN(const JobView ended, WaitForEnd(connection, job));
    highest = std::max(highest, ExitCodeOf(ended));
  }
  return highest;
}

absl::StatusOr<int> WaitWithCopies(Connection& connection, const StagedJobs& submitted,
                                   const JobRequest& request) {
  ASSIGN_OR_RETURN(const int code, WaitForAll(connection, submitted.job, request));
  if (!submitted.stage_out.valid()) {
    return code;
  }
  ASSIGN_OR_RETURN(const int copied, WaitForAll(connection, submitted.stage_out, JobRequest()));
  return std::max(code, copied);
}

std::string RecordedText(const JobRequest& request) {
  std::vector<std::string> recorded = request.spec.recorded;
  for (const Component& component : request.components) {
    recorded.insert(recorded.end(), component.spec.recorded.begin(), component.spec.recorded.end());
  }
  return recorded.empty() ? ""
                          : absl::StrCat("kept with the job, without effect: ",
                                         Printable(absl::StrJoin(recorded, " ")));
}

}  // namespace muster::cli
