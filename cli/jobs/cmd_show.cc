#include <unistd.h>

#include <iostream>

#include "absl/strings/str_cat.h"
#include "cli/controller/controller.h"
#include "cli/controller/query/documents.h"
#include "cli/controller/query/job_query.h"
#include "cli/controller/query/newest_job.h"
#include "cli/frame/json_output.h"
#include "cli/frame/output.h"
#include "cli/frame/result_file.h"
#include "cli/frame/verbs.h"
#include "cli/parse/selector.h"
#include "cli/sheet/job_sheet.h"
#include "cli/sheet/timeline/curve_sheet.h"
#include "cli/sheet/timeline/curve_trace.h"
#include "scheduler/base/status.h"
#include "scheduler/runtime/clock.h"

namespace muster::cli {
namespace {

std::string Sheets(const std::vector<JobDetail>& details, const Style& style) {
  const Time now = SystemClock().Now();
  std::string page;
  for (const JobDetail& detail : details) {
    absl::StrAppend(&page, page.empty() ? "" : "\n", PrintJobSheet(detail, now, style));
  }
  return page;
}

absl::StatusOr<int> ShowCurves(const Invocation& invocation, const std::vector<JobSelector>& jobs) {
  ASSIGN_OR_RETURN(const std::unique_ptr<Connection> connection, OpenController(invocation));
  const Style style = StyleFor(invocation.environment, STDOUT_FILENO);
  std::string page;
  Json document = Json::array();
  std::vector<JobCurve> all;
  for (const JobSelector& job : jobs) {
    ASSIGN_OR_RETURN(const std::vector<JobCurve> curves, connection->Call(ShowCurve{job}));
    all.insert(all.end(), curves.begin(), curves.end());
    for (const JobCurve& curve : curves) {
      absl::StrAppend(&page, page.empty() ? "" : "\n", PrintCurve(curve, style));
      document.push_back(ToJson(curve));
    }
  }
  if (invocation.Has("trace")) {
    RETURN_IF_ERROR(WriteResult(invocation.Value("trace"), CurveTrace(all)));
    return 0;
  }
  RETURN_IF_ERROR(
      WriteOut(invocation.Has("json") ? PrintJson(Json{{"curves", std::move(document)}}) : page));
  return 0;
}

absl::StatusOr<int> Show(const Invocation& invocation) {
  Invocation naming = invocation;
  if (naming.arguments.size() > 1 && naming.arguments.front() == "job") {
    naming.arguments.erase(naming.arguments.begin());  // "show job 12", as habit has it
  }
  ASSIGN_OR_RETURN(const std::vector<std::string> names, WithNumbers(naming));
  ASSIGN_OR_RETURN(const std::vector<JobSelector> jobs, ParseSelectors(names));
  if (invocation.Has("curve") || invocation.Has("trace")) {
    return ShowCurves(invocation, jobs);
  }
  ASSIGN_OR_RETURN(const std::unique_ptr<Connection> connection, OpenController(invocation));
  std::vector<JobDetail> details;
  int code = 0;
  for (const JobSelector& job : jobs) {
    absl::StatusOr<std::vector<JobDetail>> found = connection->Call(ShowJob{ById(job)});
    if (found.ok() && job.component.has_value()) {
      std::erase_if(*found, [&job](const JobDetail& detail) {
        return Select({detail.job}, {job}).empty();  // the id of some other job
      });
    }
    if (absl::IsNotFound(found.status()) && jobs.size() > 1) {
      std::cerr << "muster show: " << std::string(found.status().message()) << "\n";
      code = 1;
      continue;
    }
    RETURN_IF_ERROR(found.status());
    details.insert(details.end(), found->begin(), found->end());
    if (found->empty()) {
      std::cerr << "muster show: no job " << ToText(job)
                << ": see muster queue and muster history\n";
      code = 1;
    }
  }
  if (details.empty() && code != 0 && !invocation.Has("json")) {
    return code;
  }
  RETURN_IF_ERROR(WriteOut(invocation.Has("json")
                               ? DetailsDocument(details)
                               : Sheets(details, StyleFor(invocation.environment, STDOUT_FILENO))));
  return code;
}

}  // namespace

Verb ShowVerb() {
  Verb verb;
  verb.name = "show";
  verb.purpose = "Show jobs in full: asked, given, where each rank runs, used";
  verb.synopsis = "JOB…";
  verb.examples = {"muster show 12", "muster show 12_3 14", "muster show --json 12",
                   "muster show --curve 12"};
  verb.options = {{.name = "curve",
                   .letter = 0,
                   .metavar = "",
                   .text = "What they used over time (CPUs, memory, GPUs, power) and "
                           "what their programs reported"},
                  {.name = "trace",
                   .letter = 0,
                   .metavar = "FILE",
                   .text = "The same as a trace that Perfetto opens"},
                  JsonOption()};
  verb.arguments_min = 1;
  verb.arguments_max = kAnyNumber;
  verb.run = Show;
  return verb;
}

}  // namespace muster::cli
