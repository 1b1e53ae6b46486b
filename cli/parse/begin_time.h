#pragma once

// When a job may begin: now, now+1hour, 16:30, 2026-03-14T09:26, tomorrow.
//
// Pure: the caller says what time it is and where. Errors as in number.h. Invariants: an accepted
// time lies before the year kYearEnd.

#include <string_view>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "scheduler/model/value/time.h"

namespace muster::cli {

// Whoever reckons with a moment needs room behind it.
inline constexpr int kYearEnd = 3000;

// `now[+N[seconds|minutes|hours|days|weeks]]` (plain N: seconds), `HH:MM[:SS]` (the next such
// moment), `YYYY-MM-DD[THH:MM[:SS]]`, `today`, `tomorrow`, `midnight`, `noon`; local to `zone`.
absl::StatusOr<Time> ParseBegin(std::string_view text, Time now, absl::TimeZone zone);

}  // namespace muster::cli
