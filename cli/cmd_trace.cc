#include "cli/cmd_trace.h"

#include <unistd.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "cli/json_output.h"
#include "cli/output.h"
#include "cli/parse/number.h"
#include "cli/render/table.h"
#include "scheduler/base/status.h"
#include "scheduler/simulator/trace_info.h"

namespace muster {
namespace {

constexpr double kDay = 24.0 * 3600;

Json OrNull(const std::optional<std::int64_t>& number) {
  return number.has_value() ? Json(*number) : Json(nullptr);
}

std::string InfoDocument(const std::string& path, const TraceInfo& info) {
  Json weeks = Json::array();
  for (const TraceWeek& week : info.weeks) {
    weeks.push_back({{"jobs", week.jobs}, {"work", week.work}, {"load", week.load}});
  }
  const Json header = {{"computer", info.header.computer},
                       {"max_procs", OrNull(info.header.max_procs)},
                       {"max_nodes", OrNull(info.header.max_nodes)},
                       {"max_jobs", OrNull(info.header.max_jobs)},
                       {"unix_start_time", OrNull(info.header.unix_start)}};
  return PrintJson({{"trace", path},
                    {"format", "swf"},
                    {"header", header},
                    {"records", info.records},
                    {"jobs", info.jobs},
                    {"no_run_time", info.no_run_time},
                    {"no_processors", info.no_processors},
                    {"too_large", info.too_large},
                    {"out_of_order", info.out_of_order},
                    {"broken", info.skipped.lines},
                    {"duplicates", info.skipped.duplicates},
                    {"truncated", info.skipped.truncated},
                    {"first_broken", info.skipped.first},
                    {"first_submit", info.first_submit},
                    {"last_submit", info.last_submit},
                    {"largest_job", info.largest},
                    {"users", info.users},
                    {"with_requested_time", info.with_estimate},
                    {"over_requested_time", info.over_estimate},
                    {"mean_share_of_requested_time", info.estimate_used},
                    {"load", info.load},
                    {"weeks", weeks}});
}

std::string MachineText(const SwfHeader& header) {
  const std::string computer = header.computer.empty() ? "" : header.computer + ", ";
  if (header.max_procs.has_value()) {
    return absl::StrCat(computer, *header.max_procs, " processors");
  }
  return absl::StrCat(
      computer, "the header has no MaxProcs",
      header.max_nodes.has_value() ? absl::StrCat(" (MaxNodes is ", *header.max_nodes, ")") : "");
}

std::string RecordsText(const TraceInfo& info) {
  std::string text = absl::StrCat(info.records, " records, ", info.jobs, " jobs; ",
                                  info.no_run_time, " without run time, ", info.no_processors,
                                  " without processors, ", info.too_large,
                                  " larger than the machine, ", info.out_of_order, " out of order");
  const std::int64_t said = info.header.max_jobs.value_or(-1);
  if (said >= 0 && static_cast<std::uint64_t>(said) != info.records) {
    absl::StrAppend(&text, " (the header says ", said, ")");
  }
  return text;
}

std::string PrintInfo(const std::string& path, const TraceInfo& info, const Style& style) {
  std::string page = absl::StrCat(
      "trace      ", path, ": Standard Workload Format\n", "machine    ", MachineText(info.header),
      "\n", "records    ", RecordsText(info), "\n", "broken     ", info.skipped.lines, ", and ",
      info.skipped.duplicates, " with an id seen before",
      info.skipped.truncated ? "; the file ends in the middle" : "",
      info.skipped.first.empty() ? "" : "; the first: ", info.skipped.first, "\n");
  absl::StrAppendFormat(&page, "span       %.2f days, %d users, largest job %d processors\n",
                        static_cast<double>(info.last_submit - info.first_submit) / kDay,
                        info.users, info.largest);
  absl::StrAppendFormat(&page,
                        "estimates  %d jobs name a requested time, %d ran longer; %.1f %% of it "
                        "is used on average\n",
                        info.with_estimate, info.over_estimate, 100 * info.estimate_used);
  absl::StrAppendFormat(&page, "load       %.4f of the machine over the span\n\n", info.load);
  Table table({{.title = "WEEK", .right = true},
               {.title = "JOBS", .right = true},
               {.title = "LOAD", .right = true}});
  for (std::size_t i = 0; i < info.weeks.size(); ++i) {
    table.Add({{absl::StrCat(i + 1)},
               {absl::StrCat(info.weeks[i].jobs)},
               {absl::StrFormat("%.3f", info.weeks[i].load)}});
  }
  return absl::StrCat(page, table.Print(style));
}

absl::StatusOr<int> Trace(const Invocation& invocation) {
  if (invocation.arguments.front() != "info") {
    return absl::InvalidArgumentError(
        absl::StrCat(Quote(invocation.arguments.front()), " is not a trace command: use info"));
  }
  const std::string& path = invocation.arguments[1];
  ASSIGN_OR_RETURN(const TraceInfo info, DescribeTrace(path, invocation.Has("lenient")));
  RETURN_IF_ERROR(
      WriteOut(invocation.Has("json")
                   ? InfoDocument(path, info)
                   : PrintInfo(path, info, StyleFor(invocation.environment, STDOUT_FILENO))));
  return 0;
}

}  // namespace

Verb TraceVerb() {
  Verb verb;
  verb.name = "trace";
  verb.purpose = "Describe a workload trace: jobs, span, machine, load, broken records";
  verb.synopsis = "info FILE";
  verb.examples = {"muster trace info KTH-SP2.swf.xz",
                   "muster trace info --lenient --json log.swf"};
  verb.options = {{.name = "lenient",
                   .letter = 0,
                   .metavar = "",
                   .text = "Leave broken records out and count them"},
                  JsonOption()};
  verb.arguments_min = 2;
  verb.arguments_max = 2;
  verb.run = Trace;
  return verb;
}

}  // namespace muster
