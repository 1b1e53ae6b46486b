#include "cli/drill/drill_request.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <string_view>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "checkpoint/disk/names.h"
#include "cli/jobs/submit/resubmission.h"
#include "cli/parse/number.h"
#include "cli/request/job_changes.h"
#include "cli/request/job_options.h"
#include "cli/request/record/run_record.h"
#include "scheduler/base/status.h"
#include "scheduler/base/text/duration_text.h"
#include "scheduler/base/text/words.h"

namespace muster::cli {
namespace {

constexpr std::chrono::hours kUsualTimeout{1};
constexpr std::chrono::minutes kGraceForTheEnd{2};
constexpr std::size_t kDrillNameMax = 128;

// What a drill has of its own, or must not have.
bool IsOfTheDrill(const std::string& option) {
  constexpr std::array kOwn = {"array-throttle", "begin",    "comment", "deadline", "dependency",
                               "error",          "every",    "input",   "job-name", "no-requeue",
                               "output",         "recorded", "requeue", "time-min"};
  return std::find(kOwn.begin(), kOwn.end(), option) != kOwn.end();
}

std::vector<Option> OptionsOfTheJob() {
  std::vector<Option> options = ChangeOptions();
  std::erase_if(options, [](const Option& option) { return IsOfTheDrill(option.name); });
  return options;
}

// The value of that name; empty: the record has none.
std::string Recorded(const std::vector<std::string>& record, const char* name) {
  const std::string begin = absl::StrCat(name, "=");
  const auto found = std::find_if(record.begin(), record.end(), [&begin](const std::string& line) {
    return absl::StartsWith(line, begin);
  });
  return found == record.end() ? std::string() : found->substr(begin.size());
}

// A drill is nobody's result: no mail, no webhook.
bool IsNotice(const std::string& recorded) {
  return absl::StartsWith(recorded, "mail-") || absl::StartsWith(recorded, "notify=");
}

bool Names(const Submission& submission, const std::string& directory) {
  const auto names = [&directory](const std::string& text) {
    return text.find(directory) != std::string::npos;
  };
  const Program& program = submission.program;
  return names(program.script) || std::any_of(program.argv.begin(), program.argv.end(), names);
}

// Once it is over nobody looks on, so its own limit ends a drill whose command was killed.
void LimitTime(const DrillOptions& options, JobSpec* spec) {
  const Duration enough =
      std::chrono::ceil<std::chrono::minutes>(options.timeout) + kGraceForTheEnd;
  if (!options.job.contains("time") && spec->alternatives.empty() && spec->time_limit > enough) {
    spec->time_limit = enough;
    spec->time_min = Duration(0);
  }
}

void MakeItRunOnce(JobSpec* spec) {
  spec->dependency = {};
  spec->begin = kNoTime;
  spec->deadline = kNoTime;
  spec->every.clear();
  spec->requeue = Choice::kNo;
  spec->requeue_exit = 0;
  spec->elastic = false;
  spec->replace_wait = Duration(0);
  std::erase_if(spec->recorded, IsNotice);
  spec->held = true;
}

}  // namespace

std::vector<Option> DrillOptionTable() {
  std::vector<Option> options = {
      {.name = "generation",
       .letter = 0,
       .metavar = "N",
       .text = "Start from this generation, not from the newest complete one"},
      {.name = "timeout",
       .letter = 0,
       .metavar = "D",
       .text = "Give up after this long: 90s, 10m, 2h; 1h otherwise"},
      {.name = "from",
       .letter = 0,
       .metavar = "DIR",
       .text = "Where JOB keeps its checkpoints, where its submission does not say"},
      {.name = "into",
       .letter = 0,
       .metavar = "DIR",
       .text = "Make the drill's directory there, not beside the checkpoints"},
      {.name = "exact",
       .letter = 0,
       .metavar = "",
       .text = "Fail when its state is not compared, or not the same to the last bit"},
      {.name = "keep",
       .letter = 0,
       .metavar = "",
       .text = "Keep the drill's directory: its checkpoints and its output"},
      {.name = "checkpoint-interval",
       .letter = 0,
       .metavar = "TIME|auto",
       .text = "Work between two checkpoints of the drill; that of JOB otherwise"},
      JsonOption()};
  for (Option& option : OptionsOfTheJob()) {
    options.push_back(std::move(option));
  }
  return options;
}

absl::StatusOr<DrillOptions> ReadDrillOptions(const Invocation& invocation) {
  DrillOptions options;
  options.timeout = kUsualTimeout;
  if (invocation.Has("generation")) {
    const absl::StatusOr<std::uint64_t> number =
        ParseDigits(invocation.Value("generation"), checkpoint::kGenerationMax);
    if (!number.ok() || *number == 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("--generation: ", Quote(invocation.Value("generation")),
                       " is no generation: use a number that muster checkpoint list DIR shows"));
    }
    options.generation = *number;
  }
  if (invocation.Has("timeout")) {
    const absl::StatusOr<Duration> timeout = ParseDuration(invocation.Value("timeout"));
    if (!timeout.ok() || *timeout == Duration(0)) {
      return absl::InvalidArgumentError(
          absl::StrCat("--timeout: ",
                       timeout.ok() ? "use more than 0" : std::string(timeout.status().message())));
    }
    options.timeout = *timeout;
  }
  if (invocation.Has("checkpoint-interval")) {
    const std::map<std::string, std::string> only = {
        {"checkpoint-interval", invocation.Value("checkpoint-interval")}};
    ASSIGN_OR_RETURN(const JobRequest read, ReadJobOptions(only, {}, JobVerb::kSubmit, {}));
    options.interval = read.checkpoint_interval;
  }
  options.from = invocation.Value("from");
  options.into = invocation.Value("into");
  options.keep = invocation.Has("keep");
  options.exact = invocation.Has("exact");
  options.json = invocation.Has("json");
  for (const Option& option : OptionsOfTheJob()) {
    if (invocation.Has(option.name)) {
      options.job[option.name] = invocation.Value(option.name);
    }
  }
  return options;
}

std::string WhyNoDrill(const JobDetail& job, const Submission& submission, std::uint32_t uid,
                       const std::string& directory) {
  if (job.job.uid != uid) {
    return absl::StrCat("is ", job.job.user, "'s, and a drill runs as the job's user: have ",
                        job.job.user, " run it");
  }
  if (job.job.het_size > 0 || !submission.components.empty()) {
    return "is a heterogeneous job, of which there are no drills: drill a job of one component";
  }
  if (submission.spec.checkpoint_with == CheckpointMeans::kCriu) {
    return "has CRIU's checkpoints, from which only the job itself can go on: muster requeue "
           "tries that";
  }
  if (Names(submission, directory)) {
    return absl::StrCat("its script names ", directory,
                        " itself, so a drill would write there: have it use "
                        "$MUSTER_CHECKPOINT_DIR, and submit it with --checkpoint-dir");
  }
  return "";
}

std::string CheckpointsOf(const JobDetail& job, const DrillOptions& options) {
  if (!options.from.empty()) {
    return std::filesystem::absolute(options.from).lexically_normal().string();
  }
  const std::string recorded = Recorded(job.record, kCheckpointDirectoryRecord);
  return !recorded.empty() && recorded.front() == '/'
             ? recorded
             : absl::StrCat(job.work_dir, "/muster-", job.job.id.value(), ".checkpoint");
}

absl::StatusOr<JobRequest> MakeDrillRequest(const Submission& submission,
                                            const std::vector<std::uint32_t>& elements,
                                            const DrillOptions& options, const DrillPlace& place,
                                            Time now) {
  ASSIGN_OR_RETURN(JobRequest request, RequestAgain(submission, elements, now));
  RETURN_IF_ERROR(
      ChangeRequest(options.job, {.now = now, .zone = absl::LocalTimeZone()}, &request));
  MakeItRunOnce(&request.spec);
  LimitTime(options, &request.spec);
  // A program may call its checkpoints by the job's name.
  const std::string name = absl::StrCat("drill-", request.spec.name);
  if (request.spec.name != place.writer && name.size() <= kDrillNameMax) {
    request.spec.name = name;
  }
  request.spec.comment =
      absl::StrCat("drill of job ", place.original, ", generation ", place.generation);
  request.spec.paths.clear();
  Program& program = request.program;
  program.stdout_path = absl::StrCat(place.directory, "/output");
  program.stderr_path.clear();
  program.append_output = true;
  program.progress_path.clear();
  request.checkpoint_dir = absl::StrCat(place.directory, "/checkpoint");
  request.checkpoint_interval = options.interval.empty()
                                    ? Recorded(submission.spec.record, kCheckpointIntervalRecord)
                                    : options.interval;
  // Its node may be the original's: it has no local level there.
  request.exports.assignments = {absl::StrCat("DRILL_OF_JOB=", place.original),
                                 "MUSTER_CHECKPOINT_LOCAL_DIR="};
  return request;
}

}  // namespace muster::cli
