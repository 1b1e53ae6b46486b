#include "cli/parse/begin_time.h"

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "scheduler/base/text/words.h"

namespace muster::cli {
namespace {

using std::chrono::seconds;

struct NamedUnit {
  std::string_view name;
  std::int64_t seconds;
};
constexpr std::array<NamedUnit, 5> kBeginUnits = {{
    {"second", 1},
    {"minute", 60},
    {"hour", 3600},
    {"day", 86400},
    {"week", 604800},
}};
constexpr std::uint64_t kDelayMax = std::uint64_t{100} * 366 * 86400;

// Seconds in the unit named by `text` ("", "hour" or "hours").
std::optional<std::int64_t> UnitSeconds(std::string_view text) {
  if (text.empty()) {
    return 1;
  }
  for (const NamedUnit& unit : kBeginUnits) {
    if (text == unit.name ||
        (text.substr(0, unit.name.size()) == unit.name && text.substr(unit.name.size()) == "s")) {
      return unit.seconds;
    }
  }
  return std::nullopt;
}

// The delay of "now+…", without the "now+".
std::optional<Duration> ParseDelay(std::string_view text) {
  std::size_t digits = 0;
  while (digits < text.size() && text[digits] >= '0' && text[digits] <= '9') {
    ++digits;
  }
  const absl::StatusOr<std::uint64_t> count = ParseDigits(text.substr(0, digits), kDelayMax);
  const std::optional<std::int64_t> unit = UnitSeconds(text.substr(digits));
  if (!count.ok() || !unit.has_value() || *count > kDelayMax / static_cast<std::uint64_t>(*unit)) {
    return std::nullopt;
  }
  return seconds(static_cast<std::int64_t>(*count) * *unit);
}

// `text` as digits separated as in `shape`, where '9' stands for one digit.
bool HasShape(std::string_view text, std::string_view shape) {
  if (text.size() != shape.size()) {
    return false;
  }
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const bool digit = text[i] >= '0' && text[i] <= '9';
    if (shape[i] == '9' ? !digit : text[i] != shape[i]) {
      return false;
    }
  }
  return true;
}

int DigitsAt(std::string_view text, std::size_t at, std::size_t count) {
  int value = 0;
  for (const char digit : text.substr(at, count)) {
    value = value * 10 + (digit - '0');
  }
  return value;
}

struct TimeOfDay {
  int hour = 0;
  int minute = 0;
  int second = 0;
};

std::optional<TimeOfDay> ParseTimeOfDay(std::string_view text) {
  if (!HasShape(text, "99:99") && !HasShape(text, "99:99:99")) {
    return std::nullopt;
  }
  const TimeOfDay time = {.hour = DigitsAt(text, 0, 2),
                          .minute = DigitsAt(text, 3, 2),
                          .second = text.size() > 5 ? DigitsAt(text, 6, 2) : 0};
  if (time.hour > 23 || time.minute > 59 || time.second > 59) {
    return std::nullopt;
  }
  return time;
}

std::optional<absl::CivilDay> ParseDay(std::string_view text) {
  if (!HasShape(text, "9999-99-99")) {
    return std::nullopt;
  }
  const int year = DigitsAt(text, 0, 4);
  const int month = DigitsAt(text, 5, 2);
  const int day = DigitsAt(text, 8, 2);
  const absl::CivilDay civil(year, month, day);
  // A CivilDay takes the 31st of February for the 3rd of March.
  if (year < 1970 || year >= kYearEnd || civil.month() != month || civil.day() != day) {
    return std::nullopt;
  }
  return civil;
}

Time At(absl::CivilDay day, const TimeOfDay& time, absl::TimeZone zone) {
  const absl::CivilSecond civil(day.year(), day.month(), day.day(), time.hour, time.minute,
                                time.second);
  return Time(Duration(absl::ToUnixMillis(absl::FromCivil(civil, zone))));
}

Time NextAt(const TimeOfDay& time, Time now, absl::TimeZone zone) {
  const absl::CivilDay today =
      absl::ToCivilDay(absl::FromUnixMillis(now.time_since_epoch().count()), zone);
  const Time candidate = At(today, time, zone);
  return candidate > now ? candidate : At(today + 1, time, zone);
}

std::optional<Time> ParseWord(std::string_view text, Time now, absl::TimeZone zone) {
  const absl::CivilDay today =
      absl::ToCivilDay(absl::FromUnixMillis(now.time_since_epoch().count()), zone);
  if (text == "now" || text == "today") {
    return now;
  }
  if (text == "tomorrow") {
    return At(today + 1, {}, zone);
  }
  if (text == "midnight") {
    return NextAt({}, now, zone);
  }
  if (text == "noon") {
    return NextAt({.hour = 12}, now, zone);
  }
  return std::nullopt;
}

std::optional<Time> Parse(std::string_view text, Time now, absl::TimeZone zone) {
  if (text.substr(0, 4) == "now+") {
    const std::optional<Duration> delay = ParseDelay(text.substr(4));
    return delay.has_value() ? std::optional<Time>(now + *delay) : std::nullopt;
  }
  if (const std::optional<TimeOfDay> time = ParseTimeOfDay(text); time.has_value()) {
    return NextAt(*time, now, zone);
  }
  const std::optional<absl::CivilDay> day = ParseDay(text.substr(0, 10));
  if (!day.has_value()) {
    return ParseWord(text, now, zone);
  }
  if (text.size() == 10) {
    return At(*day, {}, zone);
  }
  const std::optional<TimeOfDay> time =
      text[10] == 'T' ? ParseTimeOfDay(text.substr(11)) : std::nullopt;
  return time.has_value() ? std::optional<Time>(At(*day, *time, zone)) : std::nullopt;
}

}  // namespace

absl::StatusOr<Time> ParseBegin(std::string_view text, Time now, absl::TimeZone zone) {
  const std::optional<Time> time = Parse(text, now, zone);
  if (!time.has_value()) {
    return absl::InvalidArgumentError(
        absl::StrCat(Quote(text), " is not a time: use now+1hour, HH:MM or YYYY-MM-DDTHH:MM"));
  }
  return *time;
}

}  // namespace muster::cli
