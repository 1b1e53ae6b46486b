#include "scheduler/base/text/time_text.h"

#include <cstddef>
#include <cstdio>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "scheduler/base/text/words.h"

namespace muster {
namespace {

using Moment = std::chrono::sys_time<std::chrono::milliseconds>;

constexpr int kYearMax = 2270;

std::string DateText(Moment time) {
  const std::chrono::year_month_day date(std::chrono::floor<std::chrono::days>(time));
  return absl::StrFormat("%04d-%02u-%02u", static_cast<int>(date.year()),
                         static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()));
}

std::chrono::hh_mm_ss<std::chrono::milliseconds> ClockOf(Moment time) {
  return std::chrono::hh_mm_ss(time - std::chrono::floor<std::chrono::days>(time));
}

std::string DayTimeText(Moment time) {
  const auto clock = ClockOf(time);
  return absl::StrFormat("%02d:%02d:%02d", clock.hours().count(), clock.minutes().count(),
                         clock.seconds().count());
}

}  // namespace

absl::StatusOr<Moment> ParseMoment(const std::string& text) {
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
        absl::StrCat(Quote(text), " is not a moment: write 2030-01-31T08:00:00Z (UTC)"));
  }
  return Moment(std::chrono::sys_days(date)) + std::chrono::hours(hour) +
         std::chrono::minutes(minute) + std::chrono::seconds(second);
}

std::string MomentText(Moment time) {
  return absl::StrCat(DateText(time), "T", DayTimeText(time), "Z");
}

std::string IsoText(Moment time) {
  return absl::StrFormat("%sT%s.%03dZ", DateText(time), DayTimeText(time),
                         ClockOf(time).subseconds().count());
}

std::string UtcText(Moment time) {
  return absl::StrCat(DateText(time), " ", DayTimeText(time), " UTC");
}

}  // namespace muster
