#include "cli/parse/request/warning_signal.h"

#include "absl/strings/str_cat.h"
#include "cli/parse/signal.h"
#include "scheduler/base/status.h"
#include "scheduler/base/text/duration_text.h"
#include "scheduler/base/text/words.h"

namespace muster::cli {
namespace {

constexpr Duration kUnsaid = std::chrono::seconds(60);
constexpr std::uint64_t kSecondsMax = 366ULL * 24 * 3600;
constexpr std::string_view kAutomatic = "auto";

// Slurm's seconds, or what says its unit.
absl::StatusOr<Duration> ParseBefore(std::string_view text) {
  if (text.find_first_not_of("0123456789") == std::string_view::npos) {
    ASSIGN_OR_RETURN(const std::uint64_t seconds, ParseDigits(text, kSecondsMax));
    return std::chrono::seconds(seconds);
  }
  ASSIGN_OR_RETURN(const Duration before, ParseDuration(text));
  return before <= std::chrono::seconds(kSecondsMax)
             ? absl::StatusOr<Duration>(before)
             : absl::InvalidArgumentError("is more than 366 days");
}

}  // namespace

absl::StatusOr<WarningSignal> ParseWarningSignal(std::string_view text) {
  WarningSignal warning;
  std::string_view rest = text;
  const std::string_view whom = rest.substr(0, 2);
  warning.batch = whom == "B:";
  if (warning.batch || whom == "R:") {
    rest.remove_prefix(whom.size());
  }
  const std::size_t at = rest.find('@');
  const absl::StatusOr<std::uint32_t> signal = ParseSignal(rest.substr(0, at));
  const std::string_view time = at == std::string_view::npos ? "" : rest.substr(at + 1);
  warning.automatic = time == kAutomatic;
  const absl::StatusOr<Duration> before =
      at == std::string_view::npos || warning.automatic ? kUnsaid : ParseBefore(time);
  if (!signal.ok() || !before.ok()) {
    return absl::InvalidArgumentError(absl::StrCat(
        Quote(text), " is no warning: use [B:]SIGNAL[@TIME], like USR1@120, B:TERM@5m, USR1@auto"));
  }
  warning.signal = *signal;
  warning.before = *before;
  return warning;
}

}  // namespace muster::cli
