#include "scheduler/base/text/named_values.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "scheduler/base/status.h"
#include "scheduler/base/text/words.h"

namespace muster {
namespace {

absl::StatusOr<NamedValue> ParseWord(const std::string& word) {
  const std::size_t equals = word.find('=');
  NamedValue parsed;
  if (equals == std::string::npos || !IsValueName(word.substr(0, equals)) ||
      !absl::SimpleAtod(word.substr(equals + 1), &parsed.value)) {
    return BadText(word, "is not NAME=VALUE with a number, as in loss=0.31");
  }
  parsed.name = word.substr(0, equals);
  return parsed;
}

}  // namespace

bool IsValueName(std::string_view name) {
  return !name.empty() && name.size() <= kValueNameBytesMax &&
         absl::ascii_isalpha(static_cast<unsigned char>(name.front())) &&
         std::all_of(name.begin(), name.end(),
                     [](char c) { return IsNameCharacter(c) || c == '/'; });
}

absl::StatusOr<std::vector<NamedValue>> ParseNamedValues(std::string_view text) {
  if (text.size() > kNamedValuesBytesMax) {
    return absl::InvalidArgumentError(
        absl::StrCat("more than ", kNamedValuesBytesMax, " bytes of values"));
  }
  std::vector<NamedValue> values;
  const std::vector<std::string> words =
      absl::StrSplit(std::string(text), absl::ByAnyChar(" \t\r\n"), absl::SkipEmpty());
  for (const std::string& word : words) {
    ASSIGN_OR_RETURN(NamedValue parsed, ParseWord(word));
    const bool twice = std::any_of(values.begin(), values.end(), [&parsed](const NamedValue& each) {
      return each.name == parsed.name;
    });
    if (twice) {
      return BadText(word, "says a second time what another word said");
    }
    values.push_back(std::move(parsed));
  }
  if (values.empty() || values.size() > kNamedValuesMax) {
    return absl::InvalidArgumentError(
        absl::StrCat("1 to ", kNamedValuesMax, " words NAME=VALUE, as in loss=0.31 step=400"));
  }
  return values;
}

}  // namespace muster
