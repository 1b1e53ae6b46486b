#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <utility>

#include "absl/strings/str_cat.h"
#include "cli/controller/controller.h"
#include "cli/controller/query/documents.h"
#include "cli/controller/query/job_query.h"
#include "cli/frame/output.h"
#include "cli/frame/verbs.h"
#include "cli/jobs/job_columns.h"
#include "cli/parse/number.h"
#include "cli/sheet/checkpoint_table.h"
#include "cli/sheet/job_table.h"
#include "cli/sheet/step_table.h"
#include "scheduler/base/status.h"
#include "scheduler/runtime/clock.h"

namespace muster::cli {
namespace {

absl::StatusOr<ListHistory> ReadFilter(const Invocation& invocation, const JobQuery& query) {
  ListHistory filter;
  static_cast<JobFilter&>(filter) = query.filter;
  ASSIGN_OR_RETURN(filter.since, ReadPast(invocation, "since", SystemClock().Now(), kNoTime));
  if (invocation.Has("limit")) {
    const absl::StatusOr<std::uint32_t> limit = ParseCount(invocation.Value("limit"));
    if (!limit.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat("--limit: ", std::string(limit.status().message())));
    }
    filter.limit = *limit;
  }
  return filter;
}

// One line for each job that was named and has not ended. A filter may well leave one out.
int ReportMissing(const ListHistory& filter, const JobQuery& query,
                  const std::vector<JobView>& jobs) {
  if (query.narrows() || filter.since != kNoTime || filter.limit != 0) {
    return 0;
  }
  const std::vector<std::string> missing = Missing(jobs, query.selectors);
  for (const std::string& job : missing) {
    std::cerr << "muster history: no job " << job << " has ended: see muster queue " << job << "\n";
  }
  return missing.empty() ? 0 : 1;
}

// The steps of the jobs that were listed, for as many as have some.
absl::StatusOr<std::string> StepsOf(Connection& connection, const std::vector<JobView>& jobs,
                                    const Style& style) {
  std::vector<JobSteps> all;
  for (const JobView& job : jobs) {
    ASSIGN_OR_RETURN(std::vector<JobDetail> details, connection.Call(ShowJob{{.job = job.id}}));
    for (JobDetail& detail : details) {
      if (detail.job.id == job.id && !detail.steps.empty()) {
        all.push_back({detail.job.label, std::move(detail.steps)});
      }
    }
  }
  return absl::StrCat("\n", PrintSteps(all, SystemClock().Now(), style));
}

absl::StatusOr<int> History(const Invocation& given) {
  Invocation invocation = given;
  if (invocation.Has("steps") && invocation.Has("json")) {
    return absl::InvalidArgumentError("--steps: a table alone; muster show --json JOB has them");
  }
  ASSIGN_OR_RETURN(const JobQuery query, ReadJobQuery(invocation));
  ASSIGN_OR_RETURN(const ListHistory filter, ReadFilter(invocation, query));
  ASSIGN_OR_RETURN(const JobColumns columns, ReadJobColumns(invocation));
  ASSIGN_OR_RETURN(const std::unique_ptr<Connection> connection, OpenController(invocation));
  ASSIGN_OR_RETURN(std::vector<JobView> ended, connection->Call(filter));
  std::vector<JobView> jobs = Chosen(query, std::move(ended));
  std::reverse(jobs.begin(), jobs.end());  // The latest stands last, next to the prompt.
  SortJobs(columns, jobs);
  const TableChoice choice{.header = !invocation.Has("noheader"), .fold = false};
  const Style style = StyleFor(invocation.environment, STDOUT_FILENO);
  RETURN_IF_ERROR(WriteOut(invocation.Has("json") ? JobsDocument(jobs)
                           : !columns.names.empty()
                               ? PrintJobColumns(columns, jobs, choice.header, style)
                           : invocation.Has("checkpoints") ? PrintCheckpoints(jobs, choice, style)
                                                           : PrintHistory(jobs, choice, style)));
  if (invocation.Has("steps")) {
    ASSIGN_OR_RETURN(const std::string steps, StepsOf(*connection, jobs, style));
    RETURN_IF_ERROR(WriteOut(steps));
  }
  return ReportMissing(filter, query, jobs);
}

}  // namespace

Verb HistoryVerb() {
  Verb verb;
  verb.name = "history";
  verb.purpose = "List the jobs that have ended, with what they used";
  verb.synopsis = "[JOB…]";
  verb.examples = {"muster history", "muster history --since yesterday --states FAILED,TO",
                   "muster history --json 12"};
  verb.options = JobQueryOptions();
  verb.options.push_back({.name = "since",
                          .letter = 'S',
                          .metavar = "TIME",
                          .text = "Ended at or after: 2026-03-14[T09:26], 09:26, yesterday, 2h"});
  verb.options.push_back({.name = "limit",
                          .letter = 0,
                          .metavar = "N",
                          .text = "The latest N jobs at most (default 100)"});
  verb.options.push_back(
      {.name = "steps",
       .letter = 0,
       .metavar = "",
       .text =
           "Their steps as well: what each had, used and ended as (in JSON: muster show --json)"});
  verb.options.push_back({.name = "checkpoints",
                          .letter = 0,
                          .metavar = "",
                          .text = "What checkpoints and failures cost them (JSON has it always)"});
  for (const Option& option : JobColumnOptions()) {
    verb.options.push_back(option);
  }
  verb.options.push_back(JsonOption());
  verb.arguments_max = kAnyNumber;
  verb.run = History;
  return verb;
}

}  // namespace muster::cli
