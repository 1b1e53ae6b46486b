#pragma once

// What a node says by a number of a job's part that it could not start.

#include <cstdint>

namespace muster {

// The exit code, as sysexits.h has it, where what it lacks may be there in a while, such as an
// image of a registry that does not answer.
inline constexpr std::int32_t kTryAgainCode = 75;

}  // namespace muster
