#include "scheduler/base/text/zone_rule.h"

#include <algorithm>
#include <cstddef>
#include <string_view>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "scheduler/base/text/words.h"

namespace muster {

using std::chrono::days;
using std::chrono::seconds;

// Reads one text from its front to its end.
class ZoneRule::Reader {
 public:
  explicit Reader(std::string_view text) : rest_(text) {}

  [[nodiscard]] bool done() const { return rest_.empty(); }
  [[nodiscard]] bool NextIs(char c) const { return !rest_.empty() && rest_.front() == c; }
  bool Take(char c) {
    if (!NextIs(c)) {
      return false;
    }
    rest_.remove_prefix(1);
    return true;
  }

  bool Name() {
    const bool quoted = Take('<');
    std::size_t length = 0;
    while (length < rest_.size() &&
           (absl::ascii_isalpha(static_cast<unsigned char>(rest_[length])) ||
            (quoted && rest_[length] != '>'))) {
      ++length;
    }
    rest_.remove_prefix(length);
    return length >= 3 && (!quoted || Take('>'));
  }

  std::optional<unsigned> Number(unsigned most) {
    unsigned value = 0;
    std::size_t length = 0;
    while (length < rest_.size() && length < 4 &&
           absl::ascii_isdigit(static_cast<unsigned char>(rest_[length]))) {
      value = value * 10 + static_cast<unsigned>(rest_[length++] - '0');
    }
    rest_.remove_prefix(length);
    return length > 0 && value <= most ? std::optional(value) : std::nullopt;
  }

  // [+-]HH[:MM[:SS]].
  std::optional<seconds> Clock(unsigned hours_most) {
    const bool negative = Take('-');
    if (!negative) {
      Take('+');
    }
    const std::optional<unsigned> hours = Number(hours_most);
    if (!hours.has_value()) {
      return std::nullopt;
    }
    unsigned total = *hours * 3600;
    for (const unsigned unit : {60U, 1U}) {
      if (!Take(':')) {
        break;
      }
      const std::optional<unsigned> part = Number(59);
      if (!part.has_value()) {
        return std::nullopt;
      }
      total += *part * unit;
    }
    return seconds(negative ? -static_cast<int>(total) : static_cast<int>(total));
  }

  std::optional<Change> Day() {
    Change change;
    if (Take('M')) {
      change.month = Number(12).value_or(0);
      change.week = Take('.') ? Number(5).value_or(0) : 0;
      const std::optional<unsigned> day = Take('.') ? Number(6) : std::nullopt;
      if (change.month == 0 || change.week == 0 || !day.has_value()) {
        return std::nullopt;
      }
      change.day = *day;
    } else {
      change.kind = Take('J') ? Change::Kind::kDayWithoutLeap : Change::Kind::kDay;
      const std::optional<unsigned> day = Number(365);
      if (!day || (change.kind == Change::Kind::kDayWithoutLeap && *day == 0)) {
        return std::nullopt;
      }
      change.day = *day;
    }
    if (Take('/')) {
      constexpr unsigned kHoursMost = 167;
      const std::optional<seconds> time = Clock(kHoursMost);
      if (!time.has_value()) {
        return std::nullopt;
      }
      change.time = *time;
    }
    return change;
  }

 private:
  std::string_view rest_;
};

absl::StatusOr<ZoneRule> ZoneRule::Parse(const std::string& text) {
  const absl::Status wrong = absl::InvalidArgumentError(
      absl::StrCat(Quote(text), " is no rule of a time zone: write CET-1CEST,M3.5.0,M10.5.0/3"));
  constexpr unsigned kOffsetHoursMost = 24;
  Reader reader(text);
  ZoneRule rule;
  if (!reader.Name()) {
    return wrong;
  }
  const std::optional<seconds> west = reader.Clock(kOffsetHoursMost);
  if (!west.has_value()) {
    return wrong;
  }
  rule.offset_ = -*west;
  if (reader.done()) {
    return rule;
  }
  Summer summer;
  summer.offset = rule.offset_ + std::chrono::hours(1);
  if (!reader.Name()) {
    return wrong;
  }
  if (!reader.done() && !reader.NextIs(',')) {
    const std::optional<seconds> summer_west = reader.Clock(kOffsetHoursMost);
    if (!summer_west.has_value()) {
      return wrong;
    }
    summer.offset = -*summer_west;
  }
  for (Change* change : {&summer.begins, &summer.ends}) {
    const std::optional<Change> day = reader.Take(',') ? reader.Day() : std::nullopt;
    if (!day.has_value()) {
      return wrong;
    }
    *change = *day;
  }
  if (!reader.done()) {
    return wrong;
  }
  rule.summer_ = summer;
  return rule;
}

ZoneRule::Local ZoneRule::Change::In(std::chrono::year year) const {
  using std::chrono::local_days;
  const auto first = local_days(year / 1 / 1);
  if (kind != Kind::kWeekday) {
    constexpr unsigned kLastOfFebruary = 59;
    const bool after_leap_day =
        kind == Kind::kDayWithoutLeap && year.is_leap() && day > kLastOfFebruary;
    const unsigned skipped = kind == Kind::kDay || after_leap_day ? 0 : 1;
    return first + days(day - skipped) + time;
  }
  const std::chrono::weekday weekday(day);
  const auto begin = local_days(year / std::chrono::month(month) / 1);
  const auto end = local_days(year / std::chrono::month(month) / std::chrono::last);
  local_days found = begin + (weekday - std::chrono::weekday(begin)) + days(7 * (week - 1));
  return (found > end ? found - days(7) : found) + time;
}

seconds ZoneRule::OffsetAt(Seconds time) const {
  if (!summer_.has_value()) {
    return offset_;
  }
  const std::chrono::year_month_day date(std::chrono::floor<days>(time + offset_));
  const auto utc = [](Local local, seconds offset) {
    return Seconds(local.time_since_epoch() - offset);
  };
  const Seconds begins = utc(summer_->begins.In(date.year()), offset_);
  const Seconds ends = utc(summer_->ends.In(date.year()), summer_->offset);
  const bool is_summer =
      begins < ends ? begins <= time && time < ends : !(ends <= time && time < begins);
  return is_summer ? summer_->offset : offset_;
}

ZoneRule::Local ZoneRule::LocalTimeOf(Seconds time) const {
  return Local(time.time_since_epoch() + OffsetAt(time));
}

ZoneRule::Seconds ZoneRule::SystemTimeOf(Local time) const {
  const Seconds standard(time.time_since_epoch() - offset_);
  if (!summer_.has_value()) {
    return standard;
  }
  const Seconds summer(time.time_since_epoch() - summer_->offset);
  for (const Seconds found : {std::min(standard, summer), std::max(standard, summer)}) {
    if (LocalTimeOf(found) == time) {
      return found;
    }
  }
  return std::max(standard, summer);  // clocks leave it out
}

}  // namespace muster
