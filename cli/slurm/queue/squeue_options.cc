#include "cli/slurm/queue/squeue_options.h"

#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "cli/slurm/document/envelope.h"
#include "cli/slurm/format/field_list.h"
#include "cli/slurm/frame/people.h"
#include "cli/slurm/frame/states.h"
#include "cli/slurm/frame/watching.h"
#include "cli/slurm/queue/step_page.h"
#include "scheduler/base/status.h"
#include "scheduler/base/text/host_list.h"
#include "scheduler/model/job/job_state.h"

namespace muster::cli::slurm {
namespace {

constexpr const char* kUsual = "%.18i %.9P %.8j %.8u %.2t %.10M %.6D %R";
constexpr const char* kLong = "%.18i %.9P %.8j %.8u %.8T %.10M %.9l %.6D %R";
constexpr const char* kStart = "%.18i %.9P %.8j %.8u %.2t %.19S %.6D %20Y %R";

constexpr Row kRows[] = {
    {"account", 'A', Takes::kValue},
    {"all", 'a'},
    {"array", 'r'},
    {"array-unique"},
    {"clusters", 'M', Takes::kValue},
    {"cluster", 'M', Takes::kValue},
    {"expand-patterns"},
    {"federation"},
    {"format", 'o', Takes::kValue},
    {"Format", 'O', Takes::kValue},
    {"hide"},
    {"iterate", 'i', Takes::kValue},
    {"jobs", 'j', Takes::kOptional},
    {"job", 'j', Takes::kOptional},
    {"json", 0, Takes::kOptional},
    {"licenses", 'L', Takes::kValue},
    {"local"},
    {"long", 'l'},
    {"me"},
    {"name", 'n', Takes::kValue},
    {"noconvert"},
    {"nodelist", 'w', Takes::kValue},
    {"nodes", 'w', Takes::kValue},
    {"noheader", 'h'},
    {"notme"},
    {"only-job-state"},
    {"partition", 'p', Takes::kValue},
    {"partitions", 'p', Takes::kValue},
    {"qos", 'q', Takes::kValue},
    {"reservation", 'R', Takes::kValue},
    {"sibling"},
    {"sort", 'S', Takes::kValue},
    {"start"},
    {"states", 't', Takes::kValue},
    {"state", 't', Takes::kValue},
    {"steps", 's', Takes::kOptional},
    {"step", 's', Takes::kOptional},
    {"user", 'u', Takes::kValue},
    {"users", 'u', Takes::kValue},
    {"verbose", 'v'},
    {"yaml", 0, Takes::kOptional},
};

std::vector<std::string> LiveStates() {
  std::vector<std::string> names;
  for (const JobStateName& known : kJobStateNames) {
    if (!IsTerminal(known.state)) {
      names.emplace_back(known.name);
    }
  }
  return names;
}

// Numbers; a user that is none has no jobs, which is no error.
std::vector<std::string> ReadUsers(const Words& words, const std::string& text,
                                   std::vector<std::string>& warnings) {
  std::vector<std::string> users = SplitCommas(text);
  if (words.Has("me")) {
    users.push_back(absl::StrCat(getuid()));
  }
  for (std::string& user : users) {
    const std::optional<std::uint32_t> uid = UserNumber(user);
    if (!uid.has_value()) {
      warnings.push_back(absl::StrCat("error: Invalid user: ", user));
    }
    user = uid.has_value() ? absl::StrCat(*uid) : "-";
  }
  return users;
}

absl::StatusOr<std::vector<JobSelector>> ReadJobs(const std::string& text) {
  std::vector<JobSelector> jobs;
  for (const std::string& word : SplitCommas(text)) {
    absl::StatusOr<JobSelector> job = ParseSelector(word);
    if (!job.ok()) {
      return absl::InvalidArgumentError(absl::StrCat("error: Invalid job id: ", word));
    }
    jobs.push_back(*std::move(job));
  }
  return jobs;
}

absl::Status SetLetters(const std::string& text, SqueueRequest& request) {
  const PercentFormat format = ParsePercentFormat(text);
  request.prefix = format.prefix;
  for (const PercentField& field : format.fields) {
    const JobField* known = FindJobField(field.letter);
    if (known == nullptr) {
      return absl::InvalidArgumentError(
          absl::StrCat("error: Invalid job format specification: ", std::string(1, field.letter)));
    }
    request.columns.push_back({known, known->letter_title, field.slot});
  }
  return absl::OkStatus();
}

absl::Status SetNames(const std::string& text, SqueueRequest& request) {
  for (const NamedField& field : ParseWideFormat(text)) {
    const JobField* known = FindJobField(field.name);
    if (known == nullptr) {
      return absl::InvalidArgumentError(
          absl::StrCat("error: Invalid job format specification: ", field.name));
    }
    request.columns.push_back({known, known->title, field.slot});
  }
  return absl::OkStatus();
}

absl::Status SetColumns(const Words& words, const Environment& environment,
                        SqueueRequest& request) {
  if (words.Has("Format")) {
    return SetNames(words.Value("Format"), request);
  }
  if (words.Has("format")) {
    return SetLetters(words.Value("format"), request);
  }
  if (words.Has("long")) {
    return SetLetters(kLong, request);
  }
  if (request.start) {
    return SetLetters(kStart, request);
  }
  if (const std::string usual = environment.Get("SQUEUE_FORMAT"); !usual.empty()) {
    return SetLetters(usual, request);
  }
  if (const std::string usual = environment.Get("SQUEUE_FORMAT2"); !usual.empty()) {
    return SetNames(usual, request);
  }
  return SetLetters(kUsual, request);
}

// --steps: other columns, and jobs that run unless states are named.
absl::StatusOr<SqueueRequest> OfSteps(const Words& words, const std::string& ids,
                                      SqueueRequest request) {
  if (words.Has("Format") || request.document) {
    return absl::InvalidArgumentError(
        "error: --steps takes --format, and neither --Format nor --json");
  }
  request.steps = true;
  request.step_ids = SplitCommas(ids);
  ASSIGN_OR_RETURN(request.step_format, ReadStepFormat(words.Value("format")));
  if (!words.Has("states")) {
    request.choice.states = {Name(JobState::kRunning)};
  }
  return request;
}

}  // namespace

std::span<const Row> SqueueRows() {
  return kRows;
}

absl::StatusOr<SqueueRequest> ReadSqueue(const Words& words, const Environment& environment) {
  SqueueRequest request;
  std::string jobs = words.Value("jobs");
  std::vector<std::string> operands = words.operands;
  if (words.Has("jobs") && jobs.empty() && !operands.empty()) {
    jobs = operands.front();
    operands.erase(operands.begin());
  }
  std::string steps = words.Value("steps");
  if (words.Has("steps") && steps.empty() && !operands.empty()) {
    steps = operands.front();
    operands.erase(operands.begin());
  }
  if (!operands.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("error: Unrecognized option: ", operands.front()));
  }
  ASSIGN_OR_RETURN(request.document, WantsDocument(words));
  request.header = !words.Has("noheader");
  request.each_element = words.Has("array") || environment.Has("SQUEUE_ARRAY");
  request.start = words.Has("start");
  request.with_date = words.Has("long");
  request.clusters = ValueOr(words, "clusters", environment, "SLURM_CLUSTERS");
  JobChoice& choice = request.choice;
  ASSIGN_OR_RETURN(choice.jobs, ReadJobs(jobs));
  choice.users =
      ReadUsers(words, ValueOr(words, "user", environment, "SQUEUE_USERS"), request.warnings);
  choice.accounts = SplitCommas(ValueOr(words, "account", environment, "SQUEUE_ACCOUNT"));
  choice.partitions = SplitCommas(ValueOr(words, "partition", environment, "SQUEUE_PARTITION"));
  choice.qos = SplitCommas(ValueOr(words, "qos", environment, "SQUEUE_QOS"));
  choice.names = SplitCommas(ValueOr(words, "name", environment, "SQUEUE_NAMES"));
  choice.licenses = SplitCommas(ValueOr(words, "licenses", environment, "SQUEUE_LICENSES"));
  if (words.Has("reservation")) {
    choice.reservations = {words.Value("reservation")};
  }
  if (const std::string nodes = words.Value("nodelist"); !nodes.empty()) {
    const absl::StatusOr<std::vector<std::string>> names = ExpandHostlist(nodes);
    if (!names.ok()) {
      return absl::InvalidArgumentError(absl::StrCat("error: Invalid node name ", nodes));
    }
    choice.nodes = *names;
  }
  const std::string states = ValueOr(words, "states", environment, "SQUEUE_STATES");
  if (states.empty()) {
    choice.states =
        request.start ? std::vector<std::string>{Name(JobState::kPending)} : LiveStates();
  } else {
    absl::StatusOr<std::vector<std::string>> read = ReadStates(states);
    if (!read.ok()) {
      return absl::InvalidArgumentError(absl::StrCat("error: ", read.status().message()));
    }
    choice.states = *std::move(read);
  }
  request.sort = SplitCommas(ValueOr(words, "sort", environment, "SQUEUE_SORT"));
  if (request.sort.empty() && request.start) {
    request.sort = {"S"};
  }
  ASSIGN_OR_RETURN(request.pause_s, ReadPause(words));
  if (words.Has("steps")) {
    return OfSteps(words, steps, std::move(request));
  }
  RETURN_IF_ERROR(SetColumns(words, environment, request));
  return request;
}

}  // namespace muster::cli::slurm
