#pragma once

// Large numbers as people write them: 7e9, 7B, 1.3B, 350M; rates: 50e9, 50GB/s, 400Gb/s.
//
// Suffixes are powers of 1000, in capitals: K, M, G or B (billion), T. Pure; errors as in number.h.
// Invariants: an accepted number is whole and at least 1; nothing is rounded and nothing wraps.

#include <cstdint>
#include <string_view>

#include "absl/status/statusor.h"

namespace muster::cli {

// 10^18.
inline constexpr std::uint64_t kScaledNumberMax = 1'000'000'000'000'000'000;

// A number of parameters, of anything: digits with decimals and an exponent, then a suffix or none.
absl::StatusOr<std::uint64_t> ParseScaledNumber(std::string_view text);

// Bytes per second: as above, with G but not B for billions, then B/s or nothing; b/s, bit/s and
// bps are bits, 8 to a byte.
absl::StatusOr<std::uint64_t> ParseBandwidth(std::string_view text);

}  // namespace muster::cli
