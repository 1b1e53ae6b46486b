#pragma once

// Text that other people wrote, made safe for a terminal and a log.
//
// Pure. Invariant: what Printable returns is well-formed UTF-8 without control characters, also
// those that turn the direction of writing.

#include <string>
#include <string_view>

namespace muster {

// True when `text` is well-formed UTF-8 (RFC 3629: no surrogates, nothing overlong).
bool IsUtf8(std::string_view text);

// The first character of `text`, which is not empty; its first byte when that begins none.
std::string_view FirstCharacter(std::string_view text);

// The character that well-formed `bytes` hold.
char32_t DecodeCharacter(std::string_view bytes);

// What no terminal may get: C0 and C1 controls, line and paragraph separators, and the marks that
// change the direction of writing (Unicode, "Bidi_Control").
bool IsControlCharacter(char32_t c);

// `text` with bytes that are not UTF-8 as "\x1b", and all else as it is.
std::string AsUtf8(std::string_view text);

// `text` with such characters and with bytes that are not UTF-8 as "\x1b".
std::string Printable(std::string_view text);

// The same on one line that can be read back: \n, \t and \r as such, and a backslash doubled.
std::string EscapeControl(std::string_view text);

}  // namespace muster
