#pragma once

// Time limits in Slurm's forms: M, M:SS, H:MM:SS, D-H, D-H:MM, D-H:MM:SS, UNLIMITED.
//
// Pure; errors as in number.h. Thread promise: safe from any thread. Invariants: an accepted limit
// is whole seconds, at least one, at most kTimeLimitMax; UNLIMITED is kTimeLimitMax, because in a
// JobSpec zero means "the configured default".

#include <chrono>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "scheduler/model/value/time.h"

namespace muster::cli {

// A hundred years: what UNLIMITED means.
inline constexpr Duration kTimeLimitMax = std::chrono::hours(24 * 36525);

absl::StatusOr<Duration> ParseTimeLimit(std::string_view text);

// D-HH:MM:SS, or HH:MM:SS below a day; kTimeLimitMax is UNLIMITED. Parts of a second are dropped.
std::string FormatTimeLimit(Duration limit);

}  // namespace muster::cli
