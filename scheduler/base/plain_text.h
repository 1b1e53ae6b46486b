#pragma once

// Most text is plain ASCII: found out in one pass.
//
// Pure.

#include <cstddef>
#include <string_view>

namespace muster {

// True when `text` is of ASCII's printable characters alone, each one column wide.
bool IsPrintableAscii(std::string_view text);

// How many of the first bytes are ASCII's, in whole words of eight.
std::size_t AsciiWords(std::string_view text);

}  // namespace muster
