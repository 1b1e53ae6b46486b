#include "cli/parse/time_limit.h"

#include <cstdint>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "scheduler/base/status.h"
#include "scheduler/base/text/words.h"

namespace muster::cli {
namespace {

using std::chrono::duration_cast;
using std::chrono::seconds;

constexpr std::uint64_t kSecondsMax = duration_cast<seconds>(kTimeLimitMax).count();

absl::Status NotATime(std::string_view text) {
  return absl::InvalidArgumentError(absl::StrCat(
      Quote(text), " is not a time limit: use minutes, MM:SS, HH:MM:SS, D-HH:MM:SS or UNLIMITED"));
}

// What each colon-separated part counts, in seconds, and the most it may hold.
struct Part {
  std::uint64_t seconds;
  std::uint64_t max;
};

constexpr Part kDays = {86400, kSecondsMax};
constexpr Part kHoursOfDay = {3600, 23};
constexpr Part kHours = {3600, kSecondsMax};
constexpr Part kMinutesOfHour = {60, 59};
constexpr Part kMinutes = {60, kSecondsMax};
constexpr Part kSeconds = {1, 59};

std::vector<Part> PartsFor(bool days, std::size_t count) {
  if (days) {
    return {kHoursOfDay, kMinutesOfHour, kSeconds};
  }
  return count == 3 ? std::vector<Part>{kHours, kMinutesOfHour, kSeconds}
                    : std::vector<Part>{kMinutes, kSeconds};
}

std::vector<std::string_view> SplitAt(std::string_view text, char separator) {
  std::vector<std::string_view> pieces;
  for (;;) {
    const std::size_t at = text.find(separator);
    pieces.push_back(text.substr(0, at));
    if (at == std::string_view::npos) {
      return pieces;
    }
    text.remove_prefix(at + 1);
  }
}

absl::Status AddPart(std::string_view digits, const Part& part, std::uint64_t* total) {
  ASSIGN_OR_RETURN(const std::uint64_t value, ParseDigits(digits, part.max));
  *total += value * part.seconds;  // At most 3.2e9 * 86400 a part: far from 2^64.
  return absl::OkStatus();
}

absl::StatusOr<std::uint64_t> ParseSeconds(std::string_view text) {
  std::uint64_t total = 0;
  const std::size_t dash = text.find('-');
  const bool days = dash != std::string_view::npos;
  if (days) {
    RETURN_IF_ERROR(AddPart(text.substr(0, dash), kDays, &total));
    text.remove_prefix(dash + 1);
  }
  const std::vector<std::string_view> pieces = SplitAt(text, ':');
  const std::vector<Part> parts = PartsFor(days, pieces.size());
  if (pieces.size() > parts.size()) {
    return absl::InvalidArgumentError("");
  }
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    RETURN_IF_ERROR(AddPart(pieces[i], parts[i], &total));
  }
  return total;
}

}  // namespace

absl::StatusOr<Duration> ParseTimeLimit(std::string_view text) {
  if (absl::EqualsIgnoreCase(std::string(text), "unlimited") ||
      absl::EqualsIgnoreCase(std::string(text), "infinite")) {
    return kTimeLimitMax;
  }
  const absl::StatusOr<std::uint64_t> total = ParseSeconds(text);
  if (!total.ok() || *total == 0 || *total > kSecondsMax) {
    return NotATime(text);
  }
  return seconds(*total);
}

std::string FormatTimeLimit(Duration limit) {
  if (limit >= kTimeLimitMax) {
    return "UNLIMITED";
  }
  const std::int64_t total = duration_cast<seconds>(limit).count();
  const std::string clock =
      absl::StrFormat("%02d:%02d:%02d", total / 3600 % 24, total / 60 % 60, total % 60);
  return total < 86400 ? clock : absl::StrCat(total / 86400, "-", clock);
}

}  // namespace muster::cli
