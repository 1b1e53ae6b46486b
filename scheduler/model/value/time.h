#pragma once

// Time as the core sees it: always an argument, never a clock.
//
// A Time is UTC in milliseconds; a Duration is milliseconds.

#include <chrono>

namespace muster {

using Duration = std::chrono::milliseconds;
using Time = std::chrono::sys_time<Duration>;

// The Time that means "never" or "not yet".
inline constexpr Time kNoTime{};

}  // namespace muster
