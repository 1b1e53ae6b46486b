#include "scheduler/base/text/duration_text.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "scheduler/base/text/words.h"

namespace muster {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

struct DurationUnit {
  std::string_view name;
  std::uint64_t milliseconds;
};

// From the longest down: each may follow only a longer one.
constexpr std::array<DurationUnit, 6> kDurationUnits = {{{"w", 7 * 86'400'000ULL},
                                                         {"d", 86'400'000},
                                                         {"h", 3'600'000},
                                                         {"m", 60'000},
                                                         {"s", 1000},
                                                         {"ms", 1}}};
constexpr auto kDurationMost = static_cast<std::uint64_t>(kDurationMax.count());
constexpr std::uint64_t kClockPartMax = std::chrono::duration_cast<seconds>(kTimeLimitMax).count();
constexpr std::size_t kDecimalsMax = 9;
constexpr std::int64_t kDaySeconds = 86400;

bool IsDigit(char c) {
  return absl::ascii_isdigit(static_cast<unsigned char>(c));
}

// The front of `text` that is digits, or that is none; it is taken off.
std::string_view TakeRun(std::string_view* text, bool digits) {
  const std::size_t length = static_cast<std::size_t>(
      std::find_if(text->begin(), text->end(), [digits](char c) { return IsDigit(c) != digits; }) -
      text->begin());
  const std::string_view run = text->substr(0, length);
  text->remove_prefix(length);
  return run;
}

// `fraction` ("5" of 1.5) of a unit, where it is whole milliseconds.
std::optional<std::uint64_t> FractionOf(std::string_view fraction, std::uint64_t unit) {
  if (fraction.empty() || fraction.size() > kDecimalsMax) {
    return std::nullopt;
  }
  std::uint64_t scale = 1;
  for (std::size_t i = 0; i < fraction.size(); ++i) {
    scale *= 10;
  }
  const absl::StatusOr<std::uint64_t> value = ParseDigits(fraction, scale);
  if (!value.ok() || *value * unit % scale != 0) {  // below 1e9 * 7e8: far from 2^64
    return std::nullopt;
  }
  return *value * unit / scale;
}

// The whole of "1d12h"; nothing when it is not such a text.
std::optional<milliseconds> ReadUnits(std::string_view text) {
  std::uint64_t total = 0;
  const auto* allowed = kDurationUnits.begin();
  if (text.empty()) {
    return std::nullopt;
  }
  while (!text.empty()) {
    const std::string_view digits = TakeRun(&text, true);
    std::string_view fraction;
    const bool pointed = !text.empty() && text.front() == '.';
    if (pointed) {
      text.remove_prefix(1);
      fraction = TakeRun(&text, true);
    }
    const std::string_view name = TakeRun(&text, false);
    const auto* unit = std::find_if(allowed, kDurationUnits.end(),
                                    [name](const DurationUnit& u) { return u.name == name; });
    if (unit == kDurationUnits.end()) {
      return std::nullopt;
    }
    const absl::StatusOr<std::uint64_t> value =
        ParseDigits(digits, kDurationMost / unit->milliseconds);
    const std::optional<std::uint64_t> part =
        pointed ? FractionOf(fraction, unit->milliseconds) : std::uint64_t{0};
    if (!value.ok() || !part) {
      return std::nullopt;
    }
    total += *value * unit->milliseconds + *part;  // six parts of 3.2e13 each at most
    allowed = unit + 1;
  }
  return total <= kDurationMost ? std::optional(milliseconds(total)) : std::nullopt;
}

std::optional<milliseconds> ReadDuration(std::string_view text) {
  const std::optional<seconds> clock = ReadClock(text, ClockParts::kAny);
  const std::optional<milliseconds> duration =
      clock.has_value() ? std::optional<milliseconds>(*clock) : ReadUnits(text);
  return duration.has_value() && *duration <= kDurationMax ? duration : std::nullopt;
}

// What a part between colons counts, in seconds, and the most it may hold.
struct ClockPart {
  std::uint64_t seconds;
  std::uint64_t max;
};

// Those of a clock of `count` parts, the first of which has no upper bound of its own unless days
// stand before it.
std::vector<ClockPart> PartsOf(bool days, std::size_t count) {
  std::vector<ClockPart> parts = {{3600, 23}, {60, 59}, {1, 59}};
  if (days) {
    return parts;
  }
  if (count < parts.size()) {
    parts.erase(parts.begin());
  }
  parts.front().max = kClockPartMax;
  return parts;
}

std::string ClockText(std::int64_t total, const std::string& below_a_day) {
  return total < kDaySeconds ? below_a_day
                             : absl::StrFormat("%d-%02d:%02d:%02d", total / kDaySeconds,
                                               total / 3600 % 24, total / 60 % 60, total % 60);
}

std::int64_t WholeSeconds(milliseconds duration) {
  return std::max<std::int64_t>(duration.count(), 0) / 1000;
}

}  // namespace

std::optional<seconds> ReadClock(std::string_view text, ClockParts parts) {
  std::uint64_t total = 0;
  const std::size_t dash = text.find('-');
  const bool days = dash != std::string_view::npos;
  if (days) {
    const absl::StatusOr<std::uint64_t> value = ParseDigits(text.substr(0, dash), kClockPartMax);
    if (!value.ok()) {
      return std::nullopt;
    }
    total = *value * static_cast<std::uint64_t>(kDaySeconds);  // at most 2.8e14
    text.remove_prefix(dash + 1);
  }
  const auto colons = static_cast<std::size_t>(std::count(text.begin(), text.end(), ':'));
  const std::vector<ClockPart> units = PartsOf(days, colons + 1);
  if (colons >= units.size()) {
    return std::nullopt;
  }
  for (std::size_t i = 0; i <= colons; ++i) {
    const std::size_t end = std::min(text.find(':'), text.size());
    const absl::StatusOr<std::uint64_t> value =
        ParseDigits(text.substr(0, end), parts == ClockParts::kAny ? kClockPartMax : units[i].max);
    if (!value.ok()) {
      return std::nullopt;
    }
    total += *value * units[i].seconds;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return seconds(total);
}

absl::StatusOr<milliseconds> ParseDuration(std::string_view text) {
  const std::optional<milliseconds> duration = ReadDuration(text);
  if (!duration.has_value()) {
    return absl::InvalidArgumentError(absl::StrCat(
        Quote(text), " is not a duration: use 90s, 5m, 24h, 1d12h, 250ms, minutes or HH:MM:SS"));
  }
  return *duration;
}

absl::StatusOr<milliseconds> ParseUnits(std::string_view text) {
  const std::optional<milliseconds> duration = ReadUnits(text);
  if (!duration.has_value()) {
    return absl::InvalidArgumentError(absl::StrCat(
        Quote(text), " is not a duration: use \"250ms\", \"30s\", \"5m\", \"2h\" or \"7d\""));
  }
  return *duration;
}

absl::StatusOr<milliseconds> ParsePeriod(std::string_view text) {
  const std::optional<milliseconds> period = ReadDuration(text);
  if (!period.has_value() || *period > kTimeLimitMax || period->count() % 1000 != 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        Quote(text), " is not a time: use minutes, H:MM:SS, D-HH:MM, or 90s, 5m, 2h, 7d"));
  }
  return *period;
}

absl::StatusOr<milliseconds> ParseTimeLimit(std::string_view text) {
  const std::string word(text);
  if (absl::EqualsIgnoreCase(word, "unlimited") || absl::EqualsIgnoreCase(word, "infinite")) {
    return kTimeLimitMax;
  }
  const std::optional<seconds> limit = ReadClock(text, ClockParts::kBounded);
  if (!limit.has_value() || limit->count() == 0 || *limit > kTimeLimitMax) {
    return absl::InvalidArgumentError(
        absl::StrCat(Quote(text),
                     " is not a time limit: use minutes, MM:SS, HH:MM:SS, "
                     "D-HH:MM:SS or UNLIMITED"));
  }
  return *limit;
}

std::string PeriodText(milliseconds period) {
  const std::int64_t total = WholeSeconds(period);
  return ClockText(total,
                   absl::StrFormat("%d:%02d:%02d", total / 3600, total / 60 % 60, total % 60));
}

std::string LongText(milliseconds duration) {
  const std::int64_t total = WholeSeconds(duration);
  return ClockText(total,
                   absl::StrFormat("%02d:%02d:%02d", total / 3600, total / 60 % 60, total % 60));
}

std::string FormatTimeLimit(milliseconds limit) {
  return limit >= kTimeLimitMax ? "UNLIMITED" : LongText(limit);
}

std::string ElapsedText(milliseconds duration) {
  const std::int64_t total = WholeSeconds(duration);
  return total < 3600 ? absl::StrFormat("%d:%02d", total / 60, total % 60) : PeriodText(duration);
}

std::string PreciseText(milliseconds duration) {
  if (duration.count() < 0 || duration >= std::chrono::minutes(1)) {
    return ElapsedText(duration);
  }
  return absl::StrFormat("%s.%02d", ElapsedText(duration), duration.count() % 1000 / 10);
}

std::string RoughText(milliseconds duration) {
  struct RoughUnit {
    double seconds;
    const char* name;
  };
  constexpr double kFewest = 2;  // of a unit, before the next smaller one is used
  constexpr double kTen = 10;
  constexpr auto kUnits =
      std::to_array<RoughUnit>({{86400, "d"}, {3600, "h"}, {60, "min"}, {1, "s"}});
  const double seconds = std::chrono::duration<double>(duration).count();
  RoughUnit unit = kUnits.back();
  for (const RoughUnit& larger : kUnits) {
    if (seconds >= kFewest * larger.seconds) {
      unit = larger;
      break;
    }
  }
  const double amount = seconds / unit.seconds;
  return amount < kTen ? absl::StrFormat("%.2g %s", amount, unit.name)
                       : absl::StrFormat("%.0f %s", amount, unit.name);
}

std::string SecondsText(milliseconds duration) {
  std::string text = absl::StrFormat("%.3f", std::chrono::duration<double>(duration).count());
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') {
    text.pop_back();
  }
  return text + " s";
}

}  // namespace muster
