#pragma once

// Decimal numbers as fixed point, without a detour through binary fractions.
//
// Invariant: what is accepted is a JSON number (RFC 8259, section 6) that is not negative; 0.1 is
// exactly a tenth.

#include <optional>
#include <string_view>

#include "absl/numeric/int128.h"

namespace muster {

enum class Rounding {
  kRefuse,   // more decimals than there is room for are no number
  kNearest,  // half goes up
};

// `text` in units of 10^-decimals; nothing when it is not such a number, or above `max` units.
// REQUIRES: decimals <= 18, max < 2^120.
std::optional<absl::uint128> ParseDecimal(std::string_view text, int decimals, absl::uint128 max,
                                          Rounding rounding);

}  // namespace muster
