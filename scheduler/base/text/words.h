#pragma once

// Small pieces of sentences: counts with their noun, quoted text, hashes, whole numbers.
//
// Pure. Invariant: nothing here writes a control character or a line break.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
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

// InvalidArgument `"TEXT" MEND`.
absl::Status BadText(std::string_view text, std::string_view mend);

// The characters of names that stand in lists and paths: letters, digits, ".", "_" and "-".
bool IsNameCharacter(char c);
// 1 to `bytes_max` of them.
bool IsPlainName(std::string_view text, std::size_t bytes_max);

// What stands between blanks and line breaks.
std::vector<std::string> SplitWords(const std::string& text);

// A share as the shares of accounts are written: six decimals, or "inf".
std::string FractionText(double value);

// Digits only, at most `max`: no sign, blank, exponent or suffix slips through. InvalidArgument
// without a message of its own otherwise, because only the caller knows what was wanted.
absl::StatusOr<std::uint64_t> ParseDigits(std::string_view text, std::uint64_t max);

}  // namespace muster
