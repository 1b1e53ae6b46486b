#pragma once

// Numbers as traces write them, read strictly: no "nan", no "inf", no hexadecimal, no overflow.

#include <cstdint>
#include <string>
#include <string_view>

namespace muster::sim {

inline bool IsBlank(char c) {
  return c == ' ' || c == '\t';
}

std::string_view Trimmed(std::string_view text);

// The next word of `text` between blanks, which begins after it then; empty at the end.
std::string_view NextWord(std::string_view* text);

// The next word of `text` when it is a whole number of at most 18 digits, as nearly all are; `text`
// then begins after it. Otherwise false, and `text` is as it was.
bool ReadWholeWord(std::string_view* text, std::int64_t* number);

// All of `word` as a whole number of at most 18 digits; false, and `number` as it was, otherwise.
bool ReadWhole(std::string_view word, std::int64_t* number);

// A number in the usual decimal spelling: "-12", "0.5", "1e9".
bool ReadDecimal(std::string_view word, double* number);

// `word` as an error line shows it, in quotes: control characters replaced, long words cut.
std::string Shown(std::string_view word);

}  // namespace muster::sim
