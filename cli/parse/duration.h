#pragma once

// Durations as people write them: 90s, 5m, 24h, 1d12h, 1.5h, 250ms, and Slurm's M, M:SS, H:MM:SS,
// D-H, D-H:MM, D-H:MM:SS.
//
// Pure; errors as in number.h. A plain number is minutes, as in Slurm. Thread promise: safe from
// any thread. Invariants: an accepted duration is not negative, at most kDurationMax, and exact to
// the millisecond; what is finer is refused, not rounded.

#include <string_view>

#include "absl/status/statusor.h"
#include "scheduler/model/value/time.h"

namespace muster::cli {

// A thousand years.
inline constexpr Duration kDurationMax = std::chrono::hours(24 * 365250);

absl::StatusOr<Duration> ParseDuration(std::string_view text);

}  // namespace muster::cli
