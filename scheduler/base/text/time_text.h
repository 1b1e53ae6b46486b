#pragma once

// Moments in UTC as text.
//
// Pure. Invariants: ParseMoment reads back what MomentText wrote of a whole second of the years
// 1970 to 2270; nothing here knows a time zone.

#include <chrono>
#include <string>

#include "absl/status/statusor.h"

namespace muster {

// YYYY-MM-DDTHH:MM[:SS]Z.
absl::StatusOr<std::chrono::sys_time<std::chrono::milliseconds>> ParseMoment(
    const std::string& text);
// "2030-01-31T08:00:00Z": as policy writes it, without parts of a second.
std::string MomentText(std::chrono::sys_time<std::chrono::milliseconds> time);

// "2026-03-14T09:26:53.589Z": RFC 3339, for programs and logs.
std::string IsoText(std::chrono::sys_time<std::chrono::milliseconds> time);
// "2026-03-14 09:26:53 UTC": in sentences.
std::string UtcText(std::chrono::sys_time<std::chrono::milliseconds> time);

}  // namespace muster
