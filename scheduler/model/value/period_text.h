#pragma once

// Durations and moments as policy is written: "30" (minutes), "1:00:00", "2-00:00:00", "90s", "7d",
// and "2030-01-31T08:00:00Z".
//
// Pure. Thread promise: safe from any thread. Invariants: what the Text functions write, the Parse
// functions read back; nothing exceeds 36525 days or the years 1970 to 2270.

#include <string>

#include "absl/status/statusor.h"
#include "scheduler/model/value/time.h"

namespace muster {

// Slurm's forms (M, M:SS, H:MM:SS, D-H, D-H:MM, D-H:MM:SS) and a whole number with s, m, h or d.
absl::StatusOr<Duration> ParsePeriod(const std::string& text);
// H:MM:SS below a day, else D-HH:MM:SS. Parts of a second are dropped.
std::string PeriodText(Duration period);

// UTC: YYYY-MM-DDTHH:MM[:SS]Z.
absl::StatusOr<Time> ParseMoment(const std::string& text);
std::string MomentText(Time time);

}  // namespace muster
