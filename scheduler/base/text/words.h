#pragma once

// Small pieces of sentences: counts with their noun, quoted text, hashes, whole numbers.
//
// Pure. Invariant: nothing here writes a control character or a line break.

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace muster {

// "1 node", "2 nodes".
std::string Counted(std::uint64_t count, std::string_view noun);
// "1 entry", "2 entries".
std::string Counted(std::uint64_t count, std::string_view one, std::string_view many);

// Sixteen hexadecimal digits.
std::string HashText(std::uint64_t hash);

// `text` in double quotes for an error line: control characters escaped, long text cut.
std::string Quote(std::string_view text);

// Digits only, at most `max`: no sign, blank, exponent or suffix slips through. InvalidArgument
// without a message of its own otherwise, because only the caller knows what was wanted.
absl::StatusOr<std::uint64_t> ParseDigits(std::string_view text, std::uint64_t max);

}  // namespace muster
