#include "cli/slurm/live/cmd_sstat.h"

#include "absl/strings/str_cat.h"
#include "cli/parse/selector.h"
#include "cli/slurm/frame/cluster.h"
#include "cli/slurm/frame/errors.h"
#include "cli/slurm/frame/words.h"
#include "cli/slurm/live/stat_page.h"
#include "scheduler/base/status.h"
#include "scheduler/base/text/words.h"
#include "scheduler/runtime/clock.h"

namespace muster::cli::slurm {
namespace {

constexpr Row kStatRows[] = {
    {"allsteps", 'a'},   {"format", 'o', Takes::kValue},
    {"helpformat", 'e'}, {"jobs", 'j', Takes::kValue},
    {"noconvert"},       {"noheader", 'n'},
    {"parsable", 'p'},   {"parsable2", 'P'},
    {"pidformat", 'i'},  {"verbose", 'v'},
};

struct NamedStat {
  std::string text;
  JobSelector job;
  StatChoice choice;
};

// "14", "14.0", "14.batch"; InvalidArgument is Slurm's line.
absl::StatusOr<NamedStat> ReadNamed(const std::string& text, bool all) {
  const std::size_t dot = std::min(text.find('.'), text.size());
  const std::string step = text.substr(std::min(dot + 1, text.size()));
  const absl::StatusOr<JobSelector> job = ParseSelector(text.substr(0, dot));
  const absl::StatusOr<std::uint64_t> number = ParseDigits(step, 0xffffffffU);
  if (!job.ok() || (!step.empty() && step != "batch" && !number.ok())) {
    return absl::InvalidArgumentError(absl::StrCat("fatal: Bad job/step specified: ", text));
  }
  NamedStat named{text, *job, {.all = all && step.empty(), .batch = step == "batch"}};
  if (!step.empty() && number.ok()) {
    named.choice.has_step = true;
    named.choice.step = StepId(static_cast<std::uint32_t>(*number));
  }
  return named;
}

// Its rows, or a line on stderr, which is no failure: so does Slurm.
std::vector<std::vector<std::string>> RowsOfNamed(const Call& call, Connection& connection,
                                                  const NamedStat& named,
                                                  const std::vector<StatColumn>& columns,
                                                  const AccountScene& scene) {
  const absl::StatusOr<std::vector<JobDetail>> details = connection.Call(ShowJob{ById(named.job)});
  if (!details.ok()) {
    Fail(call, absl::IsNotFound(details.status())
                   ? absl::StrCat("couldn't get steps for job ", named.text)
                   : SlurmText(details.status()));
    return {};
  }
  std::vector<std::vector<std::string>> rows;
  for (const JobDetail& detail : *details) {
    for (std::vector<std::string>& row : StatRows(detail, named.choice, columns, scene)) {
      rows.push_back(std::move(row));
    }
  }
  if (rows.empty()) {
    Fail(call, named.choice.has_step || named.choice.batch
                   ? absl::StrCat("StepId=", named.text, " not found running.")
                   : absl::StrCat("No steps running for job ", named.text));
  }
  return rows;
}

// The jobs and steps that were asked for; InvalidArgument is Slurm's line.
absl::StatusOr<std::vector<NamedStat>> ReadAllNamed(const Words& words) {
  std::vector<NamedStat> jobs;
  for (const std::string& list :
       words.operands.empty() ? std::vector{words.Value("jobs")} : words.operands) {
    for (const std::string& text : SplitCommas(list)) {
      ASSIGN_OR_RETURN(NamedStat named, ReadNamed(text, words.Has("allsteps")));
      jobs.push_back(std::move(named));
    }
  }
  return jobs;
}

}  // namespace

int RunSstat(const Call& call) {
  int code = 0;
  const std::optional<Words> words = ReadCommand(call, kStatRows, Operands::kAnywhere, &code);
  if (!words.has_value()) {
    return code;
  }
  if (words->Has("helpformat")) {
    call.out << StatFieldHelp() << std::flush;
    return 0;
  }
  const absl::StatusOr<std::vector<NamedStat>> jobs = ReadAllNamed(*words);
  if (!jobs.ok()) {
    return FailPlainly(call, absl::StrCat("sstat: ", jobs.status().message()));
  }
  if (jobs->empty()) {
    return Fail(call, "You didn't give me any jobs to stat.");
  }
  const absl::StatusOr<std::vector<StatColumn>> columns =
      ReadStatFormat(words->Has("format")      ? words->Value("format")
                     : words->Has("pidformat") ? "JobID,Nodelist,Pids"
                                               : std::string(kStatFormat));
  if (!columns.ok()) {
    return Fail(call,
                absl::StrCat("Invalid field requested: \"", columns.status().message(), "\""));
  }
  const absl::StatusOr<std::unique_ptr<Connection>> connection = OpenCluster(call);
  if (!connection.ok()) {
    return Fail(call, SlurmText(connection.status()));
  }
  const PageStyle style{.header = !words->Has("noheader"),
                        .parsable = words->Has("parsable") || words->Has("parsable2"),
                        .ends_with_delimiter = words->Has("parsable")};
  std::vector<PageColumn> page;
  for (const StatColumn& column : *columns) {
    page.push_back({column.name, column.width});
  }
  call.out << PageHead(page, style);
  const AccountScene scene{.clock = Clockface(call.environment), .now = SystemClock().Now()};
  for (const NamedStat& named : *jobs) {
    for (const std::vector<std::string>& row :
         RowsOfNamed(call, **connection, named, *columns, scene)) {
      call.out << PageLine(page, row, style);
    }
  }
  call.out << std::flush;
  return 0;
}

}  // namespace muster::cli::slurm
