#include "daemon/gateway/slurm/slurm_terms.h"

#include <algorithm>
#include <chrono>
#include <string_view>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "cli/parse/array.h"
#include "cli/parse/request/constraint.h"
#include "cli/parse/request/dependency.h"
#include "cli/parse/request/licenses.h"
#include "cli/parse/request/notice_words.h"
#include "cli/parse/request/switches.h"
#include "cli/parse/signal.h"
#include "scheduler/base/status.h"

namespace muster::daemon::slurm {
namespace {

constexpr std::int64_t kNiceMax = 1'000'000;
constexpr Duration kUsualWarning = std::chrono::minutes(1);

// What `read` makes of the text, in `member`.
template <class Value, absl::StatusOr<Value> (*kRead)(std::string_view text)>
FieldReader Parsed(Value& (*member)(SubmitJob& job)) {
  return [member](const std::string& name, const Json& value, SubmitJob& job) -> absl::Status {
    ASSIGN_OR_RETURN(const std::string text, TextIn(name, value));
    absl::StatusOr<Value> parsed = kRead(text);
    RETURN_IF_ERROR(InField(name, parsed.status()));
    member(job) = *std::move(parsed);
    return absl::OkStatus();
  };
}

absl::Status ReadArray(SubmitJob& job, const std::string& text) {
  ASSIGN_OR_RETURN(job.spec.array, cli::ParseArray(text));
  return absl::OkStatus();
}

absl::Status ReadNice(const std::string& name, const Json& value, SubmitJob& job) {
  const std::int64_t nice = value.is_number_integer() ? value.get<std::int64_t>() : kNiceMax + 1;
  if (nice < -kNiceMax || nice > kNiceMax) {
    return BadField(name, absl::StrCat("a whole number from -", kNiceMax, " to ", kNiceMax));
  }
  job.spec.nice = static_cast<std::int32_t>(nice);
  return absl::OkStatus();
}

// 0 holds, as with sbatch.
absl::Status ReadPriority(const std::string& name, const Json& value, SubmitJob& job) {
  RETURN_IF_ERROR(CountIn(name, value).status());
  ASSIGN_OR_RETURN(const std::optional<std::uint64_t> priority, NumberIn(name, value));
  job.spec.priority = static_cast<std::uint32_t>(priority.value_or(0));
  job.spec.held = job.spec.held || priority == std::uint64_t{0};
  return absl::OkStatus();
}

struct Flag {
  std::string_view word;
  void (*set)(SubmitJob& job);
};
constexpr Flag kFlags[] = {
    {"KILL_INVALID_DEPENDENCY", [](SubmitJob& j) { j.spec.kill_on_invalid_dep = Choice::kYes; }},
    {"NO_KILL_INVALID_DEPENDENCY", [](SubmitJob& j) { j.spec.kill_on_invalid_dep = Choice::kNo; }},
    {"SPREAD_JOB", [](SubmitJob& j) { j.spec.recorded.emplace_back("spread-job"); }},
    {"PREFER_MINIMUM_NODE_COUNT",
     [](SubmitJob& j) { j.spec.recorded.emplace_back("use-min-nodes"); }},
};
// Of a warning: to the batch script alone.
constexpr Flag kWarningFlags[] = {
    {"BATCH_JOB", [](SubmitJob& j) { j.spec.warning.batch = true; }},
};
constexpr Flag kOpenModes[] = {
    {"APPEND", [](SubmitJob& j) { j.program.append_output = true; }},
    {"TRUNCATE", [](SubmitJob& j) { j.program.append_output = false; }},
};

template <std::size_t kSize>
FieldReader Flags(const Flag (&known)[kSize]) {
  return [&known](const std::string& name, const Json& value, SubmitJob& job) -> absl::Status {
    ASSIGN_OR_RETURN(const std::vector<std::string> said, WordsIn(name, value));
    for (const std::string& word : said) {
      const auto* const found = std::find_if(
          std::begin(known), std::end(known),
          [&word](const Flag& flag) { return flag.word == absl::AsciiStrToUpper(word); });
      if (found == std::end(known)) {
        return BadField(name, absl::StrCat(word, " is not done here"));
      }
      found->set(job);
    }
    return absl::OkStatus();
  };
}

// slurmrestd's names of kinds of mail, where they differ from the option's.
constexpr std::pair<std::string_view, std::string_view> kMailNames[] = {
    {"TIME=100%", "TIME_LIMIT"},
    {"TIME=90%", "TIME_LIMIT_90"},
    {"TIME=80%", "TIME_LIMIT_80"},
    {"TIME=50%", "TIME_LIMIT_50"},
    {"INVALID_DEPENDENCY", "INVALID_DEPEND"}};

std::string MailWord(const std::string& word) {
  for (const auto& [theirs, ours] : kMailNames) {
    if (absl::AsciiStrToUpper(word) == theirs) {
      return std::string(ours);
    }
  }
  return word;
}

absl::Status ReadMailTypes(const std::string& name, const Json& value, SubmitJob& job) {
  ASSIGN_OR_RETURN(std::vector<std::string> words, WordsIn(name, value));
  std::transform(words.begin(), words.end(), words.begin(), MailWord);
  const std::string text = absl::StrJoin(words, ",");
  RETURN_IF_ERROR(InField(name, cli::ParseMailTypes(text).status()));
  job.spec.recorded.push_back(absl::StrCat("mail-type=", text));
  return absl::OkStatus();
}

absl::Status ReadMailUser(SubmitJob& job, const std::string& text) {
  RETURN_IF_ERROR(cli::CheckMailUser(text));
  job.spec.recorded.push_back(absl::StrCat("mail-user=", text));
  return absl::OkStatus();
}

absl::Status ReadSignal(const std::string& name, const Json& value, SubmitJob& job) {
  const std::string text = value.is_string()            ? value.get<std::string>()
                           : value.is_number_unsigned() ? value.dump()
                                                        : "";
  const absl::StatusOr<std::uint32_t> signal = cli::ParseSignal(text);
  if (!signal.ok()) {
    return InField(name, signal.status());
  }
  job.spec.warning.signal = *signal;
  job.spec.warning.before =
      job.spec.warning.before == Duration(0) ? kUsualWarning : job.spec.warning.before;
  return absl::OkStatus();
}

absl::Status ReadRlimits(const std::string& name, const Json& value, SubmitJob& job) {
  constexpr std::string_view kKnown[] = {"cpu", "fsize", "data",    "stack",  "core",
                                         "rss", "nproc", "memlock", "nofile", "as"};
  if (!value.is_object()) {
    return BadField(name, "an object of limits");
  }
  for (const auto& [limit, said] : value.items()) {
    if (std::find(std::begin(kKnown), std::end(kKnown), limit) == std::end(kKnown)) {
      return BadField(name, absl::StrCat(limit, " is no limit that is passed on"));
    }
    const bool endless = said.is_object() && said.value("infinite", Json(false)) == true;
    const absl::StatusOr<std::optional<std::uint64_t>> amount =
        endless ? std::optional<std::uint64_t>(UINT64_MAX)
                : NumberIn(absl::StrCat(name, ".", limit), said);
    RETURN_IF_ERROR(amount.status());
    if (amount->has_value()) {
      job.program.limits.push_back({absl::AsciiStrToUpper(limit), **amount});
    }
  }
  return absl::OkStatus();
}

void AddTimes(FieldTable& table) {
  table["time_limit"] =
      Whole([](SubmitJob& j, std::uint32_t n) { j.spec.time_limit = std::chrono::minutes(n); });
  table["time_minimum"] =
      Whole([](SubmitJob& j, std::uint32_t n) { j.spec.time_min = std::chrono::minutes(n); });
  table["begin_time"] =
      Whole([](SubmitJob& j, std::uint32_t n) { j.spec.begin = Time(std::chrono::seconds(n)); });
  table["deadline"] =
      Whole([](SubmitJob& j, std::uint32_t n) { j.spec.deadline = Time(std::chrono::seconds(n)); });
  table["required_switches"] = Whole([](SubmitJob& j, std::uint32_t n) {
    j.spec.request.switches = n;
    if (n > 0 && j.spec.request.switches_wait == Duration(0)) {
      j.spec.request.switches_wait = cli::kSwitchesWait;
    }
  });
  table["wait_for_switch"] = Whole([](SubmitJob& j, std::uint32_t n) {
    j.spec.request.switches_wait = std::chrono::seconds(n);
  });
  table["kill_warning_delay"] =
      Whole([](SubmitJob& j, std::uint32_t n) { j.spec.warning.before = std::chrono::seconds(n); });
}

}  // namespace

void AddTerms(FieldTable& table) {
  AddTimes(table);
  table["array"] = Worded(ReadArray);
  table["dependency"] = Parsed<Dependency, cli::ParseDependency>(
      [](SubmitJob& j) -> Dependency& { return j.spec.dependency; });
  table["constraints"] = Parsed<Constraint, cli::ParseConstraint>(
      [](SubmitJob& j) -> Constraint& { return j.spec.request.constraint; });
  table["prefer"] = Parsed<Constraint, cli::ParseConstraint>(
      [](SubmitJob& j) -> Constraint& { return j.spec.prefer; });
  table["licenses"] = Parsed<std::vector<LicenseCount>, cli::ParseLicenses>(
      [](SubmitJob& j) -> std::vector<LicenseCount>& { return j.spec.licenses; });
  table["nice"] = ReadNice;
  table["priority"] = ReadPriority;
  table["hold"] = Switch([](SubmitJob& j, bool on) { j.spec.held = j.spec.held || on; });
  table["requeue"] =
      Switch([](SubmitJob& j, bool on) { j.spec.requeue = on ? Choice::kYes : Choice::kNo; });
  table["kill_on_node_fail"] = Switch([](SubmitJob& j, bool on) { j.spec.no_kill = !on; });
  table["flags"] = Flags(kFlags);
  table["open_mode"] = Flags(kOpenModes);
  table["kill_warning_flags"] = Flags(kWarningFlags);
  table["kill_warning_signal"] = ReadSignal;
  table["mail_type"] = ReadMailTypes;
  table["mail_user"] = Worded(ReadMailUser);
  table["rlimits"] = ReadRlimits;
}

std::vector<std::string> MailWords(const std::string& types) {
  const absl::StatusOr<cli::NewsKinds> kinds = cli::ParseMailTypes(types);
  std::vector<std::string> words;
  for (const cli::News news : cli::kAllNews) {
    if (kinds.ok() && kinds->Has(news)) {
      const auto* const found =
          std::find_if(std::begin(kMailNames), std::end(kMailNames),
                       [news](const auto& name) { return name.second == cli::NewsName(news); });
      words.emplace_back(found == std::end(kMailNames) ? cli::NewsName(news) : found->first);
    }
  }
  if (kinds.ok() && kinds->of_each_element) {
    words.emplace_back("ARRAY_TASKS");
  }
  return words;
}

absl::Status CheckTogether(const SubmitJob& job) {
  const WarningSignal& warning = job.spec.warning;
  if (warning.signal == 0 && (warning.batch || warning.before > Duration(0))) {
    return BadField("kill_warning_signal", "which signal? the fields beside it only say how");
  }
  const ResourceRequest& request = job.spec.request;
  if (request.switches == 0 && request.switches_wait > Duration(0)) {
    return BadField("required_switches", "how many? wait_for_switch only says for how long");
  }
  return absl::OkStatus();
}

}  // namespace muster::daemon::slurm
