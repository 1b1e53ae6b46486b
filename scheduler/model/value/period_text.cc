#include "scheduler/model/value/period_text.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"

namespace muster {
namespace {

constexpr std::int64_t kSecondsMax = std::int64_t{36525} * 86400;
constexpr int kYearMax = 2270;

absl::Status BadPeriod(const std::string& text) {
  return absl::InvalidArgumentError(
      absl::StrCat("\"", absl::CHexEscape(text.substr(0, 80)),
                   "\" is not a time: use minutes, H:MM:SS, D-HH:MM, or 90s, 5m, 2h, 7d"));
}

bool ReadNumber(const std::string& text, std::int64_t max, std::int64_t* number) {
  const bool digits =
      !text.empty() && text.size() <= 12 && std::all_of(text.begin(), text.end(), [](char c) {
        return absl::ascii_isdigit(static_cast<unsigned char>(c));
      });
  return digits && absl::SimpleAtoi(text, number) && *number <= max;
}

// Seconds of "H", "H:MM" or "H:MM:SS" behind a day; of "M", "M:SS" or "H:MM:SS" without one.
bool ReadClock(const std::string& text, bool after_day, std::int64_t* seconds) {
  const std::vector<std::string> parts = absl::StrSplit(text, ':');
  if (parts.size() > 3) {
    return false;
  }
  std::int64_t unit = parts.size() == 3 || after_day ? 3600 : 60;
  *seconds = 0;
  for (const std::string& part : parts) {
    std::int64_t number = 0;
    if (!ReadNumber(part, kSecondsMax, &number) || number * unit > kSecondsMax) {
      return false;
    }
    *seconds += number * unit;
    unit /= 60;
  }
  return true;
}

// Seconds of "90s", "5m", "2h", "7d".
bool ReadSuffixed(const std::string& text, std::int64_t* seconds) {
  constexpr std::int64_t kDay = 86400;
  const char suffix = text.empty() ? '\0' : text.back();
  const std::int64_t unit = suffix == 's'   ? 1
                            : suffix == 'm' ? 60
                            : suffix == 'h' ? 3600
                            : suffix == 'd' ? kDay
                                            : 0;
  std::int64_t number = 0;
  if (unit == 0 || !ReadNumber(text.substr(0, text.size() - 1), kSecondsMax / unit, &number)) {
    return false;
  }
  *seconds = number * unit;
  return true;
}

}  // namespace

absl::StatusOr<Duration> ParsePeriod(const std::string& text) {
  std::int64_t seconds = 0;
  std::int64_t days = 0;
  const std::size_t dash = text.find('-');
  bool good = false;
  if (dash != std::string::npos) {
    good = ReadNumber(text.substr(0, dash), kSecondsMax / 86400, &days) &&
           ReadClock(text.substr(dash + 1), true, &seconds);
  } else {
    good = ReadSuffixed(text, &seconds) || ReadClock(text, false, &seconds);
  }
  seconds += days * 86400;
  if (!good || seconds > kSecondsMax) {
    return BadPeriod(text);
  }
  return std::chrono::seconds(seconds);
}

std::string PeriodText(Duration period) {
  const std::int64_t seconds = std::chrono::floor<std::chrono::seconds>(period).count();
  const std::int64_t days = seconds / 86400;
  const std::int64_t hours = seconds / 3600 % 24;
  const std::string rest = absl::StrFormat(":%02d:%02d", seconds / 60 % 60, seconds % 60);
  return days > 0 ? absl::StrFormat("%d-%02d", days, hours) + rest : absl::StrCat(hours, rest);
}

absl::StatusOr<Time> ParseMoment(const std::string& text) {
  int year = 0;
  unsigned month = 0;
  unsigned day = 0;
  unsigned hour = 0;
  unsigned minute = 0;
  unsigned second = 0;
  int used = 0;
  int used_short = 0;
  const int full = std::sscanf(text.c_str(), "%4d-%2u-%2uT%2u:%2u:%2uZ%n", &year, &month, &day,
                               &hour, &minute, &second, &used);
  if (full != 6 || used == 0) {
    second = 0;
    const int brief = std::sscanf(text.c_str(), "%4d-%2u-%2uT%2u:%2uZ%n", &year, &month, &day,
                                  &hour, &minute, &used_short);
    used = brief == 5 ? used_short : 0;
  }
  const std::chrono::year_month_day date{std::chrono::year(year), std::chrono::month(month),
                                         std::chrono::day(day)};
  if (used == 0 || static_cast<std::size_t>(used) != text.size() || !date.ok() || year < 1970 ||
      year > kYearMax || hour > 23 || minute > 59 || second > 59) {
    return absl::InvalidArgumentError(
        absl::StrCat("\"", absl::CHexEscape(text.substr(0, 80)),
                     "\" is not a moment: write 2030-01-31T08:00:00Z (UTC)"));
  }
  return Time(std::chrono::sys_days(date)) + std::chrono::hours(hour) +
         std::chrono::minutes(minute) + std::chrono::seconds(second);
}

std::string MomentText(Time time) {
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(std::chrono::floor<std::chrono::seconds>(time - day));
  return absl::StrFormat("%04d-%02u-%02uT%02d:%02d:%02dZ", static_cast<int>(date.year()),
                         static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                         clock.hours().count(), clock.minutes().count(), clock.seconds().count());
}

}  // namespace muster
