#include "cli/slurm/report/report_words.h"

#include <algorithm>
#include <array>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "cli/parse/number.h"
#include "scheduler/base/status.h"
#include "scheduler/base/text/words.h"

namespace muster::cli::slurm {
namespace {

constexpr std::uint64_t kCountMax = 1'000'000'000;

constexpr Row kReportRows[] = {
    {"all_clusters", 'a'},
    {"cluster", 'M', Takes::kValue},
    {"clusters", 'M', Takes::kValue},
    {"federation"},
    {"local"},
    {"noheader", 'n'},
    {"parsable", 'p'},
    {"parsable2", 'P'},
    {"quiet", 'Q'},
    {"tres", 'T', Takes::kValue},
    {"verbose", 'v'},
    {"", 't', Takes::kValue},
};

struct ReportName {
  const char* group;
  const char* name;
  std::size_t least;
  ReportKind kind;
};
constexpr std::array kReports = {
    ReportName{"cluster", "accountutilizationbyuser", 1, ReportKind::kAccountsByUser},
    ReportName{"cluster", "userutilizationbyaccount", 18, ReportKind::kUsersByAccount},
    ReportName{"cluster", "utilization", 2, ReportKind::kUtilization},
    ReportName{"user", "topusage", 1, ReportKind::kTopUsers},
    ReportName{"job", "sizesbyaccount", 1, ReportKind::kJobSizes},
};

bool IsBeginningOf(const char* name, const std::string& word, std::size_t least) {
  return word.size() >= least && absl::StartsWith(name, word);
}

absl::Status SetKind(const std::vector<std::string>& operands, ReportRequest& request) {
  const std::string group = operands.empty() ? "" : absl::AsciiStrToLower(operands.front());
  std::string known;
  bool grouped = false;
  for (const ReportName& report : kReports) {
    if (!IsBeginningOf(report.group, group, 1)) {
      continue;
    }
    grouped = true;
    absl::StrAppend(&known, known.empty() ? "" : ", ", report.name);
    if (operands.size() > 1 &&
        IsBeginningOf(report.name, absl::AsciiStrToLower(operands[1]), report.least)) {
      request.kind = report.kind;
      return absl::OkStatus();
    }
  }
  if (group.empty()) {
    return absl::InvalidArgumentError("no report given: see sreport --help");
  }
  if (!grouped) {
    return absl::InvalidArgumentError(absl::StrCat("invalid keyword: ", operands.front()));
  }
  return absl::InvalidArgumentError(
      operands.size() < 2 ? absl::StrCat("too few arguments for keyword:", operands.front())
                          : absl::StrCat("Not valid report ", operands[1], ": there are ", known));
}

absl::Status SetUnit(const std::string& word, ReportRequest& request) {
  struct Unit {
    const char* name;
    UsageUnit unit;
    bool amounts;
    bool shares;
  };
  constexpr std::array kUnits = {Unit{"secper", UsageUnit::kSeconds, true, true},
                                 Unit{"minper", UsageUnit::kMinutes, true, true},
                                 Unit{"hourper", UsageUnit::kHours, true, true},
                                 Unit{"seconds", UsageUnit::kSeconds, true, false},
                                 Unit{"minutes", UsageUnit::kMinutes, true, false},
                                 Unit{"hours", UsageUnit::kHours, true, false},
                                 Unit{"percent", UsageUnit::kMinutes, false, true}};
  const std::string lower = absl::AsciiStrToLower(word);
  for (const Unit& unit : kUnits) {
    if (lower == unit.name ||
        (!lower.empty() && !absl::StrContains(unit.name, "per") &&
         absl::StartsWith(unit.name, lower)) ||
        (unit.name[0] == 'p' && IsBeginningOf(unit.name, lower, 1))) {
      request.unit = unit.unit;
      request.amounts = unit.amounts;
      request.shares = unit.shares;
      return absl::OkStatus();
    }
  }
  return absl::InvalidArgumentError(absl::StrCat("unknown time format ", word));
}

absl::Status SetTres(const std::string& list, ReportRequest& request) {
  request.tres = SplitCommas(absl::AsciiStrToLower(list));
  request.names_tres = true;
  if (std::find(request.tres.begin(), request.tres.end(), "all") != request.tres.end()) {
    request.tres = {"cpu", "mem", "node", "gres/gpu"};
  }
  for (const std::string& name : request.tres) {
    if (name != "cpu" && name != "mem" && name != "node" && name != "gres/gpu") {
      return absl::InvalidArgumentError(
          absl::StrCat("sreport: fatal: No valid TRES given: ", name,
                       ": the accounting has cpu, mem, node and gres/gpu"));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::uint64_t> ReadCount(const std::string& key, const std::string& value) {
  absl::StatusOr<std::uint64_t> count = ParseDigits(value, kCountMax);
  if (!count.ok() || *count == 0) {
    return absl::InvalidArgumentError(absl::StrCat(" Bad value for ", key, ": ", value));
  }
  return count;
}

absl::Status TakeWord(const std::string& word, const Asker& asker, ReportRequest& request) {
  const std::size_t equals = word.find('=');
  const std::string key = absl::AsciiStrToLower(word.substr(0, equals));
  const std::string value = equals == std::string::npos ? "" : word.substr(equals + 1);
  if (equals == std::string::npos) {
    const bool known = key == "tree" || key == "where" || key == "set" || key == "group" ||
                       IsBeginningOf("all_clusters", key, 5) || key == "flatview";
    return known ? absl::OkStatus()
                 : absl::InvalidArgumentError(absl::StrCat(" Unknown condition: ", word));
  }
  if (IsBeginningOf("start", key, 1)) {
    ASSIGN_OR_RETURN(request.start, ReadMoment(value, asker));
  } else if (IsBeginningOf("end", key, 1)) {
    ASSIGN_OR_RETURN(request.end, ReadMoment(value, asker));
  } else if (IsBeginningOf("format", key, 1)) {
    request.format = value;
  } else if (IsBeginningOf("accounts", key, 2)) {
    request.accounts = SplitCommas(value);
  } else if (IsBeginningOf("users", key, 1)) {
    request.users = SplitCommas(value);
  } else if (IsBeginningOf("topcount", key, 1)) {
    ASSIGN_OR_RETURN(const std::uint64_t count, ReadCount("TopCount", value));
    request.top = count;
  } else if (IsBeginningOf("grouping", key, 2)) {
    request.grouping.clear();
    for (const std::string& number : SplitCommas(value)) {
      ASSIGN_OR_RETURN(const std::uint64_t count, ReadCount("grouping", number));
      request.grouping.push_back(count);
    }
    std::sort(request.grouping.begin(), request.grouping.end());
  } else if (!IsBeginningOf("clusters", key, 1)) {
    return absl::InvalidArgumentError(absl::StrCat(" Unknown condition: ", word));
  }
  return absl::OkStatus();
}

}  // namespace

std::span<const Row> SreportRows() {
  return kReportRows;
}

absl::StatusOr<ReportRequest> ReadReport(const Words& words, const Asker& asker) {
  ReportRequest request;
  RETURN_IF_ERROR(SetKind(words.operands, request));
  if (words.Has("t")) {
    RETURN_IF_ERROR(SetUnit(words.Value("t"), request));
  }
  if (words.Has("tres")) {
    RETURN_IF_ERROR(SetTres(words.Value("tres"), request));
  }
  for (std::size_t i = 2; i < words.operands.size(); ++i) {
    RETURN_IF_ERROR(TakeWord(words.operands[i], asker, request));
  }
  constexpr std::chrono::hours kDay{24};
  constexpr std::chrono::hours kLeast{1};
  ASSIGN_OR_RETURN(const Time today, ReadMoment("today", asker));
  request.start = request.start == kNoTime ? today - kDay : request.start;
  request.end = request.end == kNoTime ? today : request.end;
  request.end = std::max(request.end, request.start + kLeast);
  return request;
}

}  // namespace muster::cli::slurm
