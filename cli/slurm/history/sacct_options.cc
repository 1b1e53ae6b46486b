#include "cli/slurm/history/sacct_options.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "cli/controller/query/job_query.h"
#include "cli/parse/begin_time.h"
#include "cli/slurm/document/envelope.h"
#include "cli/slurm/format/field_list.h"
#include "cli/slurm/frame/people.h"
#include "cli/slurm/frame/states.h"
#include "scheduler/base/status.h"
#include "scheduler/base/text/host_list.h"
#include "scheduler/base/text/words.h"

namespace muster::cli::slurm {
namespace {

constexpr const char* kUsual = "JobID,JobName,Partition,Account,AllocCPUS,State,ExitCode";
constexpr const char* kBrief = "JobID,State,ExitCode";
constexpr const char* kLong =
    "JobID,JobIDRaw,JobName,Partition,MaxVMSize,MaxVMSizeNode,MaxVMSizeTask,AveVMSize,MaxRSS,"
    "MaxRSSNode,MaxRSSTask,AveRSS,MaxPages,MaxPagesNode,MaxPagesTask,AvePages,MinCPU,MinCPUNode,"
    "MinCPUTask,AveCPU,NTasks,AllocCPUS,Elapsed,State,ExitCode,AveCPUFreq,ReqCPUFreqMin,"
    "ReqCPUFreqMax,ReqCPUFreqGov,ReqMem,ConsumedEnergy,MaxDiskRead,MaxDiskReadNode,"
    "MaxDiskReadTask,AveDiskRead,MaxDiskWrite,MaxDiskWriteNode,MaxDiskWriteTask,AveDiskWrite,"
    "ReqTRES,AllocTRES,TRESUsageInAve,TRESUsageInMax,TRESUsageInMaxNode,TRESUsageInMaxTask,"
    "TRESUsageInMin,TRESUsageInMinNode,TRESUsageInMinTask,TRESUsageInTot,TRESUsageOutMax,"
    "TRESUsageOutMaxNode,TRESUsageOutMaxTask,TRESUsageOutAve,TRESUsageOutTot";

constexpr Row kRows[] = {
    {"accounts", 'A', Takes::kValue},
    {"allclusters", 'L'},
    {"allocations", 'X'},
    {"allusers", 'a'},
    {"array"},
    {"associations", 'x', Takes::kValue},
    {"batch-script", 'B'},
    {"brief", 'b'},
    {"clusters", 'M', Takes::kValue},
    {"completion", 'c'},
    {"constraints", 'C', Takes::kValue},
    {"delimiter", 0, Takes::kValue},
    {"duplicates", 'D'},
    {"endtime", 'E', Takes::kValue},
    {"env-vars"},
    {"federation"},
    {"file", 'f', Takes::kValue},
    {"flags", 'F', Takes::kValue},
    {"format", 'o', Takes::kValue},
    {"gid", 'g', Takes::kValue},
    {"group", 'g', Takes::kValue},
    {"help", 'h'},
    {"helpformat", 'e'},
    {"jobs", 'j', Takes::kValue},
    {"json", 0, Takes::kOptional},
    {"local"},
    {"long", 'l'},
    {"name", 0, Takes::kValue},
    {"ncpus", 'I', Takes::kValue},
    {"nnodes", 'i', Takes::kValue},
    {"noconvert"},
    {"nodelist", 'N', Takes::kValue},
    {"noheader", 'n'},
    {"parsable", 'p'},
    {"parsable2", 'P'},
    {"partition", 'r', Takes::kValue},
    {"qos", 'q', Takes::kValue},
    {"starttime", 'S', Takes::kValue},
    {"state", 's', Takes::kValue},
    {"timelimit-max", 'K', Takes::kValue},
    {"timelimit-min", 'k', Takes::kValue},
    {"truncate", 'T'},
    {"uid", 'u', Takes::kValue},
    {"units", 0, Takes::kValue},
    {"use-local-uid"},
    {"user", 'u', Takes::kValue},
    {"verbose", 'v'},
    {"wckeys", 'W', Takes::kValue},
    {"whole-hetjob", 0, Takes::kOptional},
    {"yaml", 0, Takes::kOptional},
};

// The values of all options of that name, between commas.
std::vector<std::string> AllOf(const Words& words, std::string_view name) {
  std::vector<std::string> all;
  for (const GivenWord& word : words.options) {
    if (word.name == name) {
      for (std::string& piece : SplitCommas(word.value)) {
        all.push_back(std::move(piece));
      }
    }
  }
  return all;
}

// "MMDDYY" and "MM/DD[/YY]" as YYYY-MM-DD; others as they are.
std::string IsoDay(const std::string& text, const Asker& asker) {
  const bool digits = std::all_of(text.begin(), text.end(), absl::ascii_isdigit);
  if (digits && text.size() == 6) {
    return absl::StrCat("20", text.substr(4), "-", text.substr(0, 2), "-", text.substr(2, 2));
  }
  const std::vector<std::string> parts = absl::StrSplit(text, '/');
  if (parts.size() < 2 || parts.size() > 3) {
    return text;
  }
  const absl::Time now = absl::FromUnixMillis(asker.now.time_since_epoch().count());
  const std::string year = parts.size() == 2
                               ? absl::FormatTime("%Y", now, asker.zone)
                               : absl::StrCat(parts[2].size() == 2 ? "20" : "", parts[2]);
  return absl::StrCat(year, "-", parts[0], "-", parts[1]);
}

absl::Status SetJobs(const Words& words, SacctRequest& request) {
  for (const std::string& text : AllOf(words, "jobs")) {
    const std::size_t dot = text.find('.');
    const absl::StatusOr<JobSelector> job = ParseSelector(text.substr(0, dot));
    const std::string step = dot == std::string::npos ? "" : text.substr(dot + 1);
    const absl::StatusOr<std::uint64_t> number = ParseDigits(step, 0xffffffffU);
    const bool named = step.empty() || step == "batch" || step == "extern" || number.ok();
    if (!job.ok() || !named) {
      return absl::InvalidArgumentError(
          absl::StrCat("sacct: fatal: Bad job/step specified: ", text));
    }
    request.choice.jobs.push_back(*job);
    if (step == "batch" || number.ok()) {
      request.steps.push_back({*job, step == "batch"
                                         ? std::nullopt
                                         : std::optional(static_cast<std::uint32_t>(*number))});
    }
  }
  return absl::OkStatus();
}

absl::Status SetUsers(const Words& words, const Asker& asker, SacctRequest& request) {
  for (const std::string& user : AllOf(words, "uid")) {
    const std::optional<std::uint32_t> uid = UserNumber(user);
    if (!uid.has_value()) {
      return absl::InvalidArgumentError(absl::StrCat("sacct: error: Invalid user id: ", user));
    }
    request.choice.users.push_back(absl::StrCat(*uid));
  }
  if (request.choice.users.empty() && !words.Has("allusers") && asker.uid != 0) {
    request.choice.users = {absl::StrCat(asker.uid)};
  }
  return absl::OkStatus();
}

absl::Status SetWindow(const Words& words, const Environment& environment, const Asker& asker,
                       SacctRequest& request) {
  request.until = asker.now;
  if (words.Has("endtime")) {
    ASSIGN_OR_RETURN(request.until, ReadMoment(words.Value("endtime"), asker));
  }
  if (words.Has("starttime")) {
    ASSIGN_OR_RETURN(request.since, ReadMoment(words.Value("starttime"), asker));
  } else if (!words.Has("jobs")) {
    const bool at_once = words.Has("state") && !words.Has("endtime");
    ASSIGN_OR_RETURN(request.since, ReadMoment(at_once ? "now" : "today", asker));
  }
  if (request.since > request.until) {
    const Clockface clock(environment);
    return absl::InvalidArgumentError(absl::StrCat(
        "sacct: error: Start time (", clock.Text(request.since, "Unknown"),
        ") requested is after end time (", clock.Text(request.until, "Unknown"), ")."));
  }
  return absl::OkStatus();
}

absl::Status SetColumns(const Words& words, const Environment& environment, SacctRequest& request) {
  const std::string usual = environment.Get("SACCT_FORMAT");
  const std::string text = words.Has("format")  ? words.Value("format")
                           : words.Has("long")  ? kLong
                           : words.Has("brief") ? kBrief
                           : usual.empty()      ? kUsual
                                                : usual;
  for (const SizedField& field : ParseSizedFormat(text)) {
    const AccountField* known = FindAccountField(field.name);
    if (known == nullptr) {
      return absl::InvalidArgumentError(
          absl::StrCat("sacct: error: Invalid field requested: \"", field.name, "\""));
    }
    request.columns.push_back({known, field.width.value_or(known->width)});
  }
  return absl::OkStatus();
}

absl::Status SetStates(const Words& words, SacctRequest& request) {
  if (!words.Has("state")) {
    return absl::OkStatus();
  }
  absl::StatusOr<std::vector<std::string>> states = ReadStates(words.Value("state"));
  if (!states.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat("sacct: fatal: unrecognized job state value '", words.Value("state"), "'"));
  }
  request.choice.states = *std::move(states);
  return absl::OkStatus();
}

}  // namespace

std::span<const Row> SacctRows() {
  return kRows;
}

absl::StatusOr<Time> ReadMoment(const std::string& text, const Asker& asker) {
  const std::string joined = absl::StrReplaceAll(text, {{" ", ""}});
  const std::string word = absl::AsciiStrToLower(joined);
  if (absl::StartsWith(word, "now+")) {
    return ParseBegin(word, asker.now, asker.zone);
  }
  std::string moment = joined;
  if (moment.size() > 10 && moment[4] == '-' && moment[10] == '-') {
    moment[10] = 'T';
  }
  const std::size_t clock = std::min(moment.find('T'), moment.size());
  const bool in_words = !word.empty() && absl::ascii_isalpha(static_cast<unsigned char>(word[0]));
  absl::StatusOr<Time> time = ParseSince(
      in_words ? word : absl::StrCat(IsoDay(moment.substr(0, clock), asker), moment.substr(clock)),
      asker.now, asker.zone);
  if (!time.ok()) {
    return absl::InvalidArgumentError(absl::StrCat("Invalid time specification (pos=0): ", text));
  }
  return time;
}

absl::StatusOr<SacctRequest> ReadSacct(const Words& words, const Environment& environment,
                                       const Asker& asker) {
  SacctRequest request;
  request.help = words.Has("helpformat");
  if (!words.operands.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("sacct: error: Unknown arguments: ", words.operands.front()));
  }
  const absl::StatusOr<bool> document = WantsDocument(words);
  if (!document.ok()) {
    return absl::InvalidArgumentError(absl::StrCat("sacct: error: ", document.status().message()));
  }
  request.document = *document;
  request.allocations = words.Has("allocations");
  request.header = !words.Has("noheader");
  request.each_element = words.Has("array");
  request.parsable = words.Has("parsable") || words.Has("parsable2");
  request.ends_with_delimiter = words.Has("parsable") && !words.Has("parsable2");
  request.delimiter = words.Has("delimiter") ? words.Value("delimiter") : "|";
  request.clusters = words.Value("clusters");
  if (words.Has("units") && !words.Value("units").empty()) {
    request.unit = absl::ascii_toupper(static_cast<unsigned char>(words.Value("units")[0]));
    if (std::string_view("KMGTP").find(request.unit) == std::string_view::npos) {
      return absl::InvalidArgumentError("sacct: error: Invalid units type");
    }
  }
  JobChoice& choice = request.choice;
  choice.accounts = AllOf(words, "accounts");
  choice.partitions = AllOf(words, "partition");
  choice.qos = AllOf(words, "qos");
  choice.names = AllOf(words, "name");
  if (const std::string nodes = words.Value("nodelist"); !nodes.empty()) {
    const absl::StatusOr<std::vector<std::string>> names = ExpandHostlist(nodes);
    choice.nodes = names.ok() ? *names : std::vector<std::string>{nodes};
  }
  RETURN_IF_ERROR(SetJobs(words, request));
  RETURN_IF_ERROR(SetUsers(words, asker, request));
  RETURN_IF_ERROR(SetStates(words, request));
  RETURN_IF_ERROR(SetWindow(words, environment, asker, request));
  RETURN_IF_ERROR(SetColumns(words, environment, request));
  return request;
}

}  // namespace muster::cli::slurm
