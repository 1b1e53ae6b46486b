#include "scheduler/model/value/output_pattern.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace muster {
namespace {

// What `letter` stands for; nothing for a letter that means nothing.
std::optional<std::string> Expand(char letter, std::size_t width, const PatternValues& values) {
  switch (letter) {
    case 'j':
      return PaddedNumber(ToString(values.job), width);
    case 'A':
      return PaddedNumber(ToString(values.array_index.has_value() ? values.submission : values.job),
                          width);
    case 'a':
      return PaddedNumber(absl::StrCat(values.array_index.value_or(0)), width);
    case 't':
      return PaddedNumber(absl::StrCat(values.rank), width);
    case 's':
      return PaddedNumber(ToString(values.step), width);
    case 'J':
      return values.of_step ? absl::StrCat(PaddedNumber(ToString(values.job), width), ".",
                                           ToString(values.step))
                            : PaddedNumber(ToString(values.job), width);
    case 'b':
      return absl::StrCat(values.array_index.value_or(0) % 10);
    case 'n':
      return PaddedNumber(absl::StrCat(values.node_index), width);
    case 'u':
      return values.user;
    case 'N':
      return values.node;
    case 'x': {
      std::string name = values.job_name;
      std::replace(name.begin(), name.end(), '/', '_');
      return name;
    }
    case '%':
      return "%";
    default:
      return std::nullopt;
  }
}

std::string WithoutBackslashes(std::string pattern) {
  pattern.erase(std::remove(pattern.begin(), pattern.end(), '\\'), pattern.end());
  return pattern;
}

}  // namespace

std::string PaddedNumber(const std::string& digits, std::size_t width) {
  width = std::min(width, kPatternWidthMax);
  return digits.size() < width ? std::string(width - digits.size(), '0') + digits : digits;
}

std::string ExpandPattern(const std::string& pattern, const PatternValues& values) {
  if (pattern.find('\\') != std::string::npos) {
    return WithoutBackslashes(pattern);
  }
  std::string text;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] != '%') {
      text += pattern[i];
      continue;
    }
    std::size_t letter = i + 1;
    std::size_t width = 0;
    while (letter < pattern.size() && pattern[letter] >= '0' && pattern[letter] <= '9') {
      width =
          std::min(width * 10 + static_cast<std::size_t>(pattern[letter] - '0'), kPatternWidthMax);
      ++letter;
    }
    const std::optional<std::string> value =
        letter < pattern.size() ? Expand(pattern[letter], width, values) : std::nullopt;
    if (value.has_value()) {
      text += *value;
      i = letter;
    } else {
      text += '%';
    }
  }
  return text;
}

std::string DefaultOutputPattern(const PatternValues& values) {
  return values.array_index.has_value() ? "muster-%A_%a.out" : "muster-%j.out";
}

}  // namespace muster
