#include <unistd.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "cli/compare/job_difference.h"
#include "cli/controller/controller.h"
#include "cli/controller/query/job_query.h"
#include "cli/controller/query/newest_job.h"
#include "cli/frame/json_output.h"
#include "cli/frame/output.h"
#include "cli/frame/verbs.h"
#include "cli/page/table.h"
#include "cli/page/text.h"
#include "cli/parse/selector.h"
#include "scheduler/base/status.h"

namespace muster::cli {
namespace {

// One job of that name, with its script where it is the caller's and kept.
absl::StatusOr<JobDetail> DetailOf(Connection& connection, const JobSelector& job) {
  ASSIGN_OR_RETURN(std::vector<JobDetail> found, connection.Call(ShowJob{ById(job), true}));
  if (found.size() != 1) {
    return absl::InvalidArgumentError(absl::StrCat("job ", ToText(job), ": is ", found.size(),
                                                   " jobs: name one element or component, as ",
                                                   job.job.value(), "_0"));
  }
  return std::move(found.front());
}

std::string Text(const std::vector<Difference>& differences, const std::string& script,
                 const std::vector<JobSelector>& jobs, const Style& style) {
  if (differences.empty()) {
    return absl::StrCat("jobs ", ToText(jobs[0]), " and ", ToText(jobs[1]), " do not differ\n");
  }
  constexpr std::size_t kLeast = 12;
  Table table(
      {{"WHAT"}, {"NAME"}, {ToText(jobs[0]), false, kLeast}, {ToText(jobs[1]), false, kLeast}});
  std::string group;
  for (const Difference& difference : differences) {
    table.Add({{difference.group == group ? "" : difference.group, Paint::kBold},
               {difference.name},
               {difference.first.empty() ? "-" : difference.first},
               {difference.second.empty() ? "-" : difference.second}});
    group = difference.group;
  }
  std::string page = table.Print(style);
  if (!script.empty()) {
    absl::StrAppend(&page, "\nscript:\n");
    for (const std::string& line :
         std::vector<std::string>(absl::StrSplit(script, '\n', absl::SkipEmpty()))) {
      absl::StrAppend(&page, Printable(line), "\n");
    }
  }
  return page;
}

Json Document(const std::vector<Difference>& differences, const std::string& script) {
  Json list = Json::array();
  for (const Difference& difference : differences) {
    list.push_back({{"group", difference.group},
                    {"name", difference.name},
                    {"first", difference.first},
                    {"second", difference.second}});
  }
  return {{"differences", std::move(list)}, {"script", script}};
}

absl::StatusOr<int> Diff(const Invocation& invocation) {
  ASSIGN_OR_RETURN(const std::vector<std::string> names, WithNumbers(invocation));
  ASSIGN_OR_RETURN(const std::vector<JobSelector> jobs, ParseSelectors(names));
  ASSIGN_OR_RETURN(const std::unique_ptr<Connection> connection, OpenController(invocation));
  ASSIGN_OR_RETURN(const JobDetail first, DetailOf(*connection, jobs.at(0)));
  ASSIGN_OR_RETURN(const JobDetail second, DetailOf(*connection, jobs.at(1)));
  const std::vector<Difference> differences = DifferencesOf(first, second);
  const std::string script = first.script.empty() || second.script.empty()
                                 ? ""
                                 : ScriptDifference(first.script, second.script);
  RETURN_IF_ERROR(WriteOut(
      invocation.Has("json")
          ? PrintJson(Document(differences, script))
          : Text(differences, script, jobs, StyleFor(invocation.environment, STDOUT_FILENO))));
  return differences.empty() ? 0 : 1;
}

}  // namespace

Verb DiffVerb() {
  Verb verb;
  verb.name = "diff";
  verb.purpose = "Show in what two jobs differ: made of, asked for, got, and what came of it";
  verb.synopsis = "JOB JOB";
  verb.examples = {"muster diff 12 14", "muster diff train last", "muster diff 12_3 12_4 --json"};
  verb.options = {JsonOption()};
  verb.arguments_min = 2;
  verb.arguments_max = 2;
  verb.run = Diff;
  return verb;
}

}  // namespace muster::cli
