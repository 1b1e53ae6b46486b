#pragma once

// Durations as people, policy, configuration files and Slurm write them, and how we write them.
//
// Pure. One grammar: numbers with units, from the longest unit down ("1d12h", "1.5h", "250ms"),
// and Slurm's clocks ("90" minutes, M:SS, H:MM:SS, D-H, D-H:MM, D-H:MM:SS). The readers differ only
// in what of it they take, and each says why. Invariants: an accepted duration is not negative and
// exact to the millisecond, what is finer is refused and not rounded; each Text function is read
// back by the reader beside it. Errors are `"TEXT" is not a …: MEND`.

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace muster {

// A thousand years.
inline constexpr std::chrono::milliseconds kDurationMax = std::chrono::hours(24 * 365250);
// A hundred years: what UNLIMITED means.
inline constexpr std::chrono::milliseconds kTimeLimitMax = std::chrono::hours(24 * 36525);

// Whether "1:75" is a clock. What a person types as a time limit is more likely a slip; Slurm's own
// tools and its records take it.
enum class ClockParts { kBounded, kAny };

// Slurm's clocks, zero included; nothing for any other text. At most about 9 million years.
std::optional<std::chrono::seconds> ReadClock(std::string_view text, ClockParts parts);

// All of the grammar, at most kDurationMax.
absl::StatusOr<std::chrono::milliseconds> ParseDuration(std::string_view text);
// Only with units: in a configuration file "30" would be seconds to one reader and minutes to
// another.
absl::StatusOr<std::chrono::milliseconds> ParseUnits(std::string_view text);
// All of the grammar in whole seconds, at most kTimeLimitMax: policy, which PeriodText writes.
absl::StatusOr<std::chrono::milliseconds> ParsePeriod(std::string_view text);
// Slurm's clocks with bounded parts, and UNLIMITED; whole seconds, at least one, at most
// kTimeLimitMax. UNLIMITED is kTimeLimitMax, because zero means "the configured default".
absl::StatusOr<std::chrono::milliseconds> ParseTimeLimit(std::string_view text);

// The texts below drop parts of a second, and write D-HH:MM:SS from a day on. Below it:
// policy's H:MM:SS;
std::string PeriodText(std::chrono::milliseconds period);
// sacct's and scontrol's HH:MM:SS;
std::string LongText(std::chrono::milliseconds duration);
// the same for limits, where kTimeLimitMax is UNLIMITED;
std::string FormatTimeLimit(std::chrono::milliseconds limit);
// squeue's M:SS and H:MM:SS;
std::string ElapsedText(std::chrono::milliseconds duration);
// the same with hundredths below a minute: "0:00.42".
std::string PreciseText(std::chrono::milliseconds duration);

// In sentences, to two digits or more, in the largest unit of which there are two: "4.2 s",
// "41 min", "37 h", "9 d".
std::string RoughText(std::chrono::milliseconds duration);
// In sentences, exactly: "90 s", "2.5 s".
std::string SecondsText(std::chrono::milliseconds duration);

}  // namespace muster
