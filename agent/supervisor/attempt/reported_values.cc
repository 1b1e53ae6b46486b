#include "agent/supervisor/attempt/reported_values.h"

#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "agent/supervisor/attempt/replace_file.h"
#include "scheduler/base/text/named_values.h"
#include "scheduler/runtime/file.h"

namespace muster::agent {
namespace {

bool ParseMoment(const std::string& word, Time& time) {
  std::int64_t milliseconds = 0;
  if (!absl::SimpleAtoi(word, &milliseconds)) {
    return false;
  }
  time = Time(Duration(milliseconds));
  return true;
}

void ParseLine(const std::string& line, ReportedValues& reported) {
  const std::vector<std::string> words = absl::StrSplit(line, absl::MaxSplits(' ', 4));
  if (words.size() == 5 && words[0] == "v") {
    ReportedValue value;
    value.name = words[1];
    if (IsValueName(value.name) && absl::SimpleAtod(words[2], &value.last) &&
        ParseMoment(words[3], value.time) && absl::SimpleAtoi(words[4], &value.count)) {
      reported.values.push_back(std::move(value));
    }
  } else if (words.size() >= 4 && words[0] == "f") {
    ReportedFinding finding;
    finding.rule = words[1];
    finding.text = absl::StrCat(words[3], words.size() == 5 ? " " + words[4] : "");
    if (ParseMoment(words[2], finding.since)) {
      reported.findings.push_back(std::move(finding));
    }
  } else if (words.size() == 4 && words[0] == "m") {
    ReportedMark mark;
    if (absl::SimpleAtoi(words[1], &mark.teller.pid) && absl::SimpleAtod(words[2], &mark.step) &&
        ParseMoment(words[3], mark.time)) {
      reported.marks.push_back(mark);
    }
  } else if (words.size() == 5 && words[0] == "r") {
    ReportedMark mark;
    if (absl::SimpleAtoi(words[1], &mark.teller.step_id) && mark.teller.step_id > 0 &&
        absl::SimpleAtoi(words[2], &mark.teller.rank) && absl::SimpleAtod(words[3], &mark.step) &&
        ParseMoment(words[4], mark.time)) {
      reported.marks.push_back(mark);
    }
  }
}

}  // namespace

std::string PrintReported(const ReportedValues& reported) {
  std::string text;
  for (const ReportedValue& value : reported.values) {
    absl::StrAppendFormat(&text, "v %s %.17g %d %d\n", value.name, value.last,
                          value.time.time_since_epoch().count(), value.count);
  }
  for (const ReportedFinding& finding : reported.findings) {
    absl::StrAppend(&text, "f ", finding.rule, " ", finding.since.time_since_epoch().count(), " ",
                    finding.text, "\n");
  }
  for (const ReportedMark& mark : reported.marks) {
    const std::string who = mark.teller.step_id > 0
                                ? absl::StrCat("r ", mark.teller.step_id, " ", mark.teller.rank)
                                : absl::StrCat("m ", mark.teller.pid);
    absl::StrAppendFormat(&text, "%s %.17g %d\n", who, mark.step,
                          mark.time.time_since_epoch().count());
  }
  return text;
}

ReportedValues ParseReported(std::string_view text) {
  ReportedValues reported;
  for (const std::string& line : std::vector<std::string>(
           absl::StrSplit(std::string(text.substr(0, kReportedBytesMax)), '\n'))) {
    ParseLine(line, reported);
  }
  return reported;
}

absl::Status WriteReported(const std::string& path, const ReportedValues& reported) {
  return ReplaceFile(path, PrintReported(reported));
}

ReportedValues ReadReported(const std::string& path) {
  const absl::StatusOr<std::string> text = ReadFile(path, kReportedBytesMax);
  return text.ok() ? ParseReported(*text) : ReportedValues();
}

}  // namespace muster::agent
