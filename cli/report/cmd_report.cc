#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "cli/controller/controller.h"
#include "cli/controller/query/job_query.h"
#include "cli/frame/output.h"
#include "cli/frame/verbs.h"
#include "cli/report/report_tables.h"
#include "cli/report/said_values.h"
#include "scheduler/base/contains.h"
#include "scheduler/base/status.h"
#include "scheduler/base/text/duration_text.h"
#include "scheduler/base/text/named_values.h"
#include "scheduler/base/text/words.h"
#include "scheduler/runtime/clock.h"

namespace muster::cli {
namespace {

constexpr std::uint32_t kReportedJobsMost = 10'000'000;
constexpr std::int64_t kPeriodsMost = 10'000;
constexpr std::chrono::hours kWindowUnlessSaid{7 * 24};
constexpr std::array<const char*, 4> kReports = {"usage", "utilization", "waits", "sizes"};

struct ReportRequest {
  std::string kind;
  ReportKeys keys;
  ReportedTres tres = {"cpu", "gpu", "mem"};
  UsageWindow window;
  Duration every{0};
  JobQuery query;
};

// An hour, a day or a week, so that a table of them fits on a screen.
Duration PeriodFor(Duration window) {
  constexpr std::chrono::hours kDay{24};
  return window <= 2 * kDay ? std::chrono::hours(1) : window <= 60 * kDay ? kDay : 7 * kDay;
}

absl::Status ReadPeriod(const Invocation& invocation, ReportRequest& request) {
  const Duration length = request.window.end - request.window.start;
  request.every = PeriodFor(length);
  if (!invocation.Has("every")) {
    return absl::OkStatus();
  }
  if (request.kind != "utilization") {
    return absl::InvalidArgumentError("--every: only for muster report utilization");
  }
  const absl::StatusOr<Duration> every = ParseDuration(invocation.Value("every"));
  if (!every.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--every: ", std::string(every.status().message())));
  }
  if (every->count() == 0 || length / *every >= kPeriodsMost) {
    return absl::InvalidArgumentError(
        absl::StrCat("--every: gives more than ", kPeriodsMost, " lines: say a longer time"));
  }
  request.every = *every;
  return absl::OkStatus();
}

// By what, unless it is said: usage and waits by account, the others in all.
absl::Status ReadKeys(const Invocation& invocation, ReportRequest& request) {
  request.keys.zone = StyleFor(invocation.environment, STDOUT_FILENO).zone;
  if (!invocation.Has("by")) {
    if (request.kind == "sizes" || request.kind == "utilization") {
      request.keys.by.clear();
    }
    return absl::OkStatus();
  }
  const auto by = ReadReportKeys(invocation.Value("by"));
  if (!by.has_value()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--by: ", Quote(invocation.Value("by")),
                     " is no list of account, user, partition, qos, name, month and day, each at "
                     "most once"));
  }
  request.keys.by = *by;
  if (request.kind == "utilization" &&
      (Contains(*by, ReportBy::kMonth) || Contains(*by, ReportBy::kDay))) {
    return absl::InvalidArgumentError(
        "--by: of utilization --every says the periods: use --every 1d, or leave month and day "
        "out");
  }
  return absl::OkStatus();
}

absl::Status ReadColumns(const Invocation& invocation, ReportRequest& request) {
  if (request.kind == "sizes" || request.kind == "utilization") {
    request.tres = {"cpu", "gpu"};
  }
  if (!invocation.Has("tres")) {
    return absl::OkStatus();
  }
  const std::string words = invocation.Value("tres");
  if (request.kind == "waits") {
    return absl::InvalidArgumentError("--tres: waits have no such columns: leave it out");
  }
  const auto tres = ReadReportedTres(words);
  if (!tres.has_value()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--tres: ", Quote(words), " is no list of cpu, gpu, mem, node, energy and cost"));
  }
  const bool loads = std::all_of(tres->begin(), tres->end(), [](const std::string& name) {
    return name == "cpu" || name == "gpu";
  });
  if (request.kind == "utilization" && !loads) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--tres: ", Quote(words), ": utilization is of cpu and gpu: leave the others out"));
  }
  request.tres = *tres;
  return absl::OkStatus();
}

absl::StatusOr<ReportRequest> ReadRequest(Invocation invocation, Time now) {
  ReportRequest request;
  request.kind = invocation.arguments.front();
  if (std::find(kReports.begin(), kReports.end(), request.kind) == kReports.end()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "\"", request.kind, "\" is not a report: one of usage, utilization, waits and sizes"));
  }
  invocation.arguments.clear();
  RETURN_IF_ERROR(ReadKeys(invocation, request));
  RETURN_IF_ERROR(ReadColumns(invocation, request));
  ASSIGN_OR_RETURN(request.window.start,
                   ReadPast(invocation, "since", now, now - kWindowUnlessSaid));
  ASSIGN_OR_RETURN(request.window.end, ReadPast(invocation, "until", now, now));
  if (request.window.start >= request.window.end) {
    return absl::InvalidArgumentError("--until: must be later than --since");
  }
  RETURN_IF_ERROR(ReadPeriod(invocation, request));
  ASSIGN_OR_RETURN(request.query, ReadJobQuery(invocation));
  return request;
}

absl::StatusOr<std::vector<JobView>> FetchJobs(Connection& connection, const ReportRequest& request,
                                               Time now) {
  const ListUse question{request.query.filter, request.window.start, kReportedJobsMost};
  ASSIGN_OR_RETURN(std::vector<JobView> jobs, connection.Call(question));
  for (JobView& job : jobs) {
    CountUpTo(now, job);
  }
  return Chosen(request.query, std::move(jobs));
}

absl::StatusOr<std::string> PageOf(Connection& connection, const ReportRequest& request,
                                   const Invocation& invocation) {
  ASSIGN_OR_RETURN(const std::vector<JobView> jobs,
                   FetchJobs(connection, request, SystemClock().Now()));
  const Style style = StyleFor(invocation.environment, STDOUT_FILENO);
  const bool header = !invocation.Has("noheader");
  const bool json = invocation.Has("json");
  if (request.kind == "usage") {
    const std::vector<UsageRow> rows = TallyUsage(jobs, request.keys, request.window);
    return json ? UsageDocument(rows, request.keys.by, request.window)
                : PrintUsage(rows, request.keys.by, request.tres, header, style);
  }
  if (request.kind == "waits") {
    const std::vector<WaitRow> rows = TallyWaits(jobs, request.keys, request.window);
    return json ? WaitsDocument(rows, request.keys.by, request.window)
                : PrintWaits(rows, request.keys.by, header, style);
  }
  if (request.kind == "sizes") {
    const std::vector<SizeRow> rows = TallySizes(jobs, request.keys, request.window);
    return json ? SizesDocument(rows, request.keys.by, request.window)
                : PrintSizes(rows, request.keys.by, request.tres, header, style);
  }
  ASSIGN_OR_RETURN(const NodeList nodes, connection.Call(ListNodes{{}, /*with_machine=*/false}));
  const std::vector<LoadRow> rows =
      TallyLoad(jobs, nodes.nodes, request.keys, request.window, request.every);
  return json ? LoadDocument(rows, request.keys.by, request.window)
              : PrintLoad(rows, request.keys.by, request.tres, header, style);
}

absl::StatusOr<int> Report(const Invocation& invocation) {
  if (absl::StrContains(invocation.arguments.front(), "=")) {
    return ReportValues(invocation);
  }
  if (invocation.arguments.size() > 1) {
    return absl::InvalidArgumentError(absl::StrCat(
        Quote(invocation.arguments[1]), ": one report at a time, or NAME=VALUE words alone"));
  }
  ASSIGN_OR_RETURN(const ReportRequest request, ReadRequest(invocation, SystemClock().Now()));
  ASSIGN_OR_RETURN(const std::unique_ptr<Connection> connection, OpenController(invocation));
  ASSIGN_OR_RETURN(const std::string page, PageOf(*connection, request, invocation));
  RETURN_IF_ERROR(WriteOut(page));
  return 0;
}

}  // namespace

Verb ReportVerb() {
  Verb verb;
  verb.name = "report";
  verb.purpose = "Report use, load and waits of the cluster; in a job, how it gets on";
  verb.synopsis = "usage|utilization|waits|sizes|NAME=VALUE…";
  verb.examples = {"muster report usage --by user --since 30d",
                   "muster report usage --by account,month --tres gpu,energy,cost --since 365d",
                   "muster report utilization --since yesterday --every 1h",
                   "muster report waits --by partition --json",
                   "muster report sizes --by account,user,month --tres gpu,cpu,energy",
                   "muster report loss=0.31 step=400"};
  verb.remarks =
      "With NAME=VALUE words, in a job: says how the job gets on. muster show --curve shows it.\n";
  verb.options = JobQueryOptions();
  verb.options.push_back({.name = "since",
                          .letter = 'S',
                          .metavar = "TIME",
                          .text = "From then on: 2026-03-14[T09:26], yesterday, 30d (default 7d)"});
  verb.options.push_back(
      {.name = "until", .letter = 0, .metavar = "TIME", .text = "Up to then (default: now)"});
  verb.options.push_back({.name = "by",
                          .letter = 0,
                          .metavar = "KEY,...",
                          .text = "account (the default of usage and waits), user, partition, qos, "
                                  "name, month, day"});
  verb.options.push_back(
      {.name = "tres",
       .letter = 0,
       .metavar = "LIST",
       .text = "Columns of usage and sizes: cpu, gpu, mem (the default of usage), node, energy, "
               "cost; of utilization: cpu, gpu"});
  verb.options.push_back({.name = "every",
                          .letter = 0,
                          .metavar = "TIME",
                          .text = "Length of a period of utilization (default: an hour, a day or "
                                  "a week, by how long the time is)"});
  verb.options.push_back(JsonOption());
  verb.arguments_min = 1;
  verb.arguments_max = kNamedValuesMax;
  verb.run = Report;
  return verb;
}

}  // namespace muster::cli
