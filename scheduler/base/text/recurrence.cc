#include "scheduler/base/text/recurrence.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "scheduler/base/status.h"
#include "scheduler/base/text/words.h"

namespace muster {
namespace {

using std::chrono::days;

struct Field {
  const char* name;
  unsigned least;
  unsigned most;
  const char* names;  // of its numbers, three letters each
};

constexpr unsigned kSunday = 7;  // 0 is Sunday, too
constexpr std::array<Field, 5> kFields = {{
    {"minute", 0, 59, ""},
    {"hour", 0, 23, ""},
    {"day of the month", 1, 31, ""},
    {"month", 1, 12, "janfebmaraprmayjunjulaugsepoctnovdec"},
    {"day of the week", 0, kSunday, "sunmontuewedthufrisat"},
}};
constexpr const Field& kWeekday = kFields[4];
constexpr const char* kHowTo =
    "write 'Mon 03:00', 'Mon-Fri 8:30', '03:00', '15m', '6h', 'month 03:00', @daily, or the five "
    "fields of cron";

absl::Status Wrong(const Field& field, const std::string& text) {
  return absl::InvalidArgumentError(absl::StrCat(Quote(text), " is no ", field.name, " (",
                                                 field.least, " to ", field.most,
                                                 ", lists, ranges and steps)"));
}

std::optional<unsigned> ValueOf(const Field& field, const std::string& text) {
  const std::string names = field.names;
  const std::size_t at = text.size() == 3 ? names.find(absl::AsciiStrToLower(text)) : text.npos;
  if (at != std::string::npos && at % 3 == 0) {
    return static_cast<unsigned>(at / 3) + field.least;
  }
  unsigned value = 0;
  const bool digits = !text.empty() && text.size() <= 2 &&
                      std::all_of(text.begin(), text.end(), absl::ascii_isdigit);
  return digits && absl::SimpleAtoi(text, &value) && value >= field.least && value <= field.most
             ? std::optional(value)
             : std::nullopt;
}

// One field: "*", "*/15", "1-5", "9-17/2", "mon,thu".
template <class Set>
absl::Status ReadField(const Field& field, const std::string& text, Set* set) {
  for (const std::string& part : std::vector<std::string>(absl::StrSplit(text, ','))) {
    const std::pair<std::string, std::string> stepped =
        absl::StrSplit(part, absl::MaxSplits('/', 1));
    const auto& [range, step_text] = stepped;
    unsigned step = 1;
    const bool has_step = part.size() > range.size();
    if (has_step && (!absl::SimpleAtoi(step_text, &step) || step == 0 || step > field.most)) {
      return Wrong(field, text);
    }
    const std::pair<std::string, std::string> ends = absl::StrSplit(range, absl::MaxSplits('-', 1));
    const bool all = range == "*";
    const bool is_range = range.size() > ends.first.size();
    const std::optional<unsigned> first = all ? field.least : ValueOf(field, ends.first);
    std::optional<unsigned> last = is_range ? ValueOf(field, ends.second) : first;
    if (all || (has_step && !is_range)) {
      last = field.most;
    }
    if (!first.has_value() || !last.has_value() || *first > *last) {
      return Wrong(field, text);
    }
    for (unsigned value = *first; value <= *last; value += step) {
      set->set(value);
    }
  }
  return absl::OkStatus();
}

// "8:30" as "30 8"; nothing: it is no time of day.
std::optional<std::string> ClockFields(const std::string& text) {
  const std::vector<std::string> parts = absl::StrSplit(text, ':');
  if (parts.size() != 2 || parts[1].size() != 2) {
    return std::nullopt;
  }
  const std::optional<unsigned> hour = ValueOf(kFields[1], parts[0]);
  const std::optional<unsigned> minute = ValueOf(kFields[0], parts[1]);
  return hour.has_value() && minute.has_value() ? std::optional(absl::StrCat(*minute, " ", *hour))
                                                : std::nullopt;
}

// "15m", "6h": what divides an hour or a day.
std::optional<std::string> PeriodFields(const std::string& text) {
  unsigned count = 0;
  if (text.size() < 2 || !absl::SimpleAtoi(text.substr(0, text.size() - 1), &count) || count == 0) {
    return std::nullopt;
  }
  if (text.back() == 'm' && count < 60 && 60 % count == 0) {
    return absl::StrCat("*/", count, " * * * *");
  }
  if (text.back() == 'h' && count <= 24 && 24 % count == 0) {
    return count == 24 ? "0 0 * * *" : absl::StrCat("0 */", count, " * * *");
  }
  return std::nullopt;
}

// The last three fields of the days that a word names.
std::optional<std::string> DayFields(const std::string& word) {
  constexpr std::array<std::pair<const char*, const char*>, 6> kWords = {{
      {"day", "* * *"},
      {"daily", "* * *"},
      {"weekday", "* * 1-5"},
      {"weekdays", "* * 1-5"},
      {"month", "1 * *"},
      {"monthly", "1 * *"},
  }};
  for (const auto& [name, fields] : kWords) {
    if (word == name) {
      return fields;
    }
  }
  std::bitset<kSunday + 1> set;
  return absl::ascii_isalpha(static_cast<unsigned char>(word.front())) &&
                 ReadField(kWeekday, word, &set).ok()
             ? std::optional(absl::StrCat("* * ", word))
             : std::nullopt;
}

std::optional<std::string> Named(const std::string& text) {
  constexpr std::array<std::pair<const char*, const char*>, 9> kNames = {{
      {"@yearly", "0 0 1 1 *"},
      {"@annually", "0 0 1 1 *"},
      {"@monthly", "0 0 1 * *"},
      {"@weekly", "0 0 * * 0"},
      {"@daily", "0 0 * * *"},
      {"@midnight", "0 0 * * *"},
      {"@hourly", "0 * * * *"},
      {"hour", "0 * * * *"},
      {"hourly", "0 * * * *"},
  }};
  for (const auto& [name, fields] : kNames) {
    if (text == name) {
      return fields;
    }
  }
  return std::nullopt;
}

}  // namespace

absl::StatusOr<Recurrence> Recurrence::Parse(const std::string& text) {
  const std::pair<std::string, std::string> parts = absl::StrSplit(text, absl::MaxSplits(';', 1));
  const std::vector<std::string> fields = absl::StrSplit(parts.first, ' ', absl::SkipEmpty());
  if (fields.size() != kFields.size()) {
    return absl::InvalidArgumentError(absl::StrCat(Quote(text), " has not five fields: ", kHowTo));
  }
  Recurrence recurrence;
  Set* const sets[] = {&recurrence.minutes_, &recurrence.hours_, &recurrence.days_,
                       &recurrence.months_, &recurrence.weekdays_};
  for (std::size_t i = 0; i < kFields.size(); ++i) {
    RETURN_IF_ERROR(ReadField(kFields[i], fields[i], sets[i]));
  }
  if (recurrence.weekdays_.test(kSunday)) {
    recurrence.weekdays_.set(0);
  }
  recurrence.either_day_ = !absl::StartsWith(fields[2], "*") && !absl::StartsWith(fields[4], "*");
  if (!parts.second.empty()) {
    ASSIGN_OR_RETURN(recurrence.zone_, ZoneRule::Parse(parts.second));
  }
  return recurrence;
}

bool Recurrence::Has(std::chrono::local_days day) const {
  const std::chrono::year_month_day date(day);
  const bool in_days = days_.test(static_cast<unsigned>(date.day()));
  const bool in_weekdays = weekdays_.test(std::chrono::weekday(day).c_encoding());
  return months_.test(static_cast<unsigned>(date.month())) &&
         (either_day_ ? in_days || in_weekdays : in_days && in_weekdays);
}

std::optional<std::chrono::sys_seconds> Recurrence::Next(std::chrono::sys_seconds time) const {
  constexpr days kFarthest{8 * 366};  // February 29th comes once in eight years round 2100
  const auto today = std::chrono::floor<days>(zone_.LocalTimeOf(time));
  for (auto day = today - days(1); day < today + kFarthest; day += days(1)) {
    if (!Has(day)) {
      continue;
    }
    std::optional<std::chrono::sys_seconds> first;
    for (unsigned minute = 0; minute < 24 * 60; ++minute) {
      if (!hours_.test(minute / 60) || !minutes_.test(minute % 60)) {
        continue;
      }
      const std::chrono::sys_seconds found = zone_.SystemTimeOf(day + std::chrono::minutes(minute));
      if (found > time && (!first.has_value() || found < *first)) {
        first = found;
      }
    }
    if (first.has_value()) {
      return first;
    }
  }
  return std::nullopt;
}

absl::StatusOr<std::string> RecurrenceFields(const std::string& text) {
  const std::vector<std::string> words =
      absl::StrSplit(absl::AsciiStrToLower(text), absl::ByAnyChar(" \t"), absl::SkipEmpty());
  if (words.size() == kFields.size()) {
    std::string fields = absl::StrJoin(words, " ");
    RETURN_IF_ERROR(Recurrence::Parse(fields).status());
    return fields;
  }
  std::optional<std::string> fields;
  if (words.size() == 1) {
    fields = Named(words[0]);
    fields = fields.has_value() ? fields : PeriodFields(words[0]);
    const std::optional<std::string> clock = ClockFields(words[0]);
    fields = clock.has_value() ? absl::StrCat(*clock, " * * *") : fields;
  }
  if (!fields.has_value() && (words.size() == 1 || words.size() == 2)) {
    const std::optional<std::string> on = DayFields(words[0]);
    const std::optional<std::string> clock =
        words.size() == 1 ? std::optional<std::string>("0 0") : ClockFields(words[1]);
    if (on.has_value() && clock.has_value()) {
      fields = absl::StrCat(*clock, " ", *on);
    }
  }
  if (!fields.has_value()) {
    return absl::InvalidArgumentError(absl::StrCat(Quote(text), " says no time: ", kHowTo));
  }
  return *std::move(fields);
}

}  // namespace muster
