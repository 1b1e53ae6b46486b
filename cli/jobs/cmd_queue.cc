#include <unistd.h>

#include <iostream>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "cli/controller/controller.h"
#include "cli/controller/query/documents.h"
#include "cli/controller/query/job_query.h"
#include "cli/frame/output.h"
#include "cli/frame/verbs.h"
#include "cli/jobs/job_columns.h"
#include "cli/sheet/job_table.h"
#include "scheduler/base/status.h"
#include "scheduler/runtime/clock.h"

namespace muster::cli {
namespace {

// One line for each job that was named and is not there. A filter may well leave one out.
int ReportMissing(const JobQuery& query, const std::vector<JobView>& jobs) {
  if (query.narrows()) {
    return 0;
  }
  const std::vector<std::string> missing = Missing(jobs, query.selectors);
  for (const std::string& job : missing) {
    std::cerr << "muster queue: job " << job << " neither waits nor runs: see muster history "
              << job << "\n";
  }
  return missing.empty() ? 0 : 1;
}

// Single jobs that wait alike have one view as well, unless when each starts is shown.
ListJobs QuestionOf(const Invocation& invocation, const JobQuery& query) {
  ListJobs question{query.filter};
  question.fold_jobs = question.fold && !invocation.Has("start");
  return question;
}

// A list of all jobs, a line for each, comes and goes in pieces: the first line need not wait for
// the hundred-thousandth. Its columns grow where a later piece needs it.
absl::Status PrintInPieces(Connection& connection, const JobQuery& query, const TableChoice& choice,
                           const Style& style) {
  constexpr std::uint32_t kFirst = 200;
  constexpr std::uint32_t kPiece = 2000;
  QueuePages pages(choice, /*priorities=*/true, SystemClock().Now(), style);
  ListJobs question{query.filter};
  question.limit = kFirst;
  for (bool more = true; more;) {
    ASSIGN_OR_RETURN(std::vector<JobView> held, connection.Call(question));
    more = held.size() >= question.limit;
    if (!held.empty() &&
        held.front().id <= question.after) {  // an older controller gives no pieces
      question.limit = 0;
      ASSIGN_OR_RETURN(held, connection.Call(question));
      more = false;
      std::erase_if(held, [&](const JobView& job) { return job.id <= question.after; });
    }
    question.after = held.empty() ? question.after : held.back().id;
    question.limit = kPiece;
    RETURN_IF_ERROR(WriteOut(pages.Next(Chosen(query, std::move(held)))));
  }
  return absl::OkStatus();
}

absl::StatusOr<int> Queue(const Invocation& given) {
  Invocation invocation = given;
  ASSIGN_OR_RETURN(JobQuery query, ReadJobQuery(invocation));
  ASSIGN_OR_RETURN(const JobColumns columns, ReadJobColumns(invocation));
  query.filter.fold = !invocation.Has("json") && !invocation.Has("array") && columns.names.empty();
  ASSIGN_OR_RETURN(const std::unique_ptr<Connection> connection, OpenController(invocation));
  const Style style = StyleFor(invocation.environment, STDOUT_FILENO);
  const TableChoice choice{.header = !invocation.Has("noheader"),
                           .fold = !invocation.Has("array"),
                           .start = invocation.Has("start")};
  if (!choice.fold && !invocation.Has("json") && columns.names.empty() && columns.sort.empty() &&
      query.filter.jobs.empty() && query.selectors.empty()) {
    RETURN_IF_ERROR(PrintInPieces(*connection, query, choice, style));
    return 0;
  }
  ASSIGN_OR_RETURN(std::vector<JobView> held, connection->Call(QuestionOf(invocation, query)));
  std::vector<JobView> jobs = Chosen(query, std::move(held));
  SortJobs(columns, jobs);
  RETURN_IF_ERROR(WriteOut(invocation.Has("json") ? JobsDocument(jobs)
                           : !columns.names.empty()
                               ? PrintJobColumns(columns, jobs, choice.header, style)
                               : PrintQueue(jobs, choice, SystemClock().Now(), style)));
  return ReportMissing(query, jobs);
}

}  // namespace

Verb QueueVerb() {
  Verb verb;
  verb.name = "queue";
  verb.purpose = "List the jobs that wait or run, and why each waits";
  verb.synopsis = "[JOB…]";
  verb.examples = {"muster queue", "muster queue --user alice --states PD,R",
                   "muster queue --me --sort=-priority --format id,name,priority,nodes",
                   "muster queue --start", "muster queue --json"};
  verb.options = JobQueryOptions();
  verb.options.push_back(
      {.name = "array",
       .letter = 'r',
       .metavar = "",
       .text = "A line for each: elements of an array that wait, and jobs that wait alike"});
  verb.options.push_back({.name = "start",
                          .letter = 0,
                          .metavar = "",
                          .text = "A column for when each job is expected to start"});
  for (const Option& option : JobColumnOptions()) {
    verb.options.push_back(option);
  }
  verb.options.push_back(JsonOption());
  verb.arguments_max = kAnyNumber;
  verb.run = Queue;
  return verb;
}

}  // namespace muster::cli
