#pragma once

// "nodes+=16,policy=easy": what `--change` says, word by word, whatever the settings are.
//
// Invariants: a key is not empty; every value of += -= *= is a whole number from 1 to kChangeMax.

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace muster::cli {

inline constexpr std::int64_t kChangeMax = 1'000'000'000'000;

struct SettingChange {
  std::string key;
  char sign = '=';  // or +, -, *
  std::string value;
  std::int64_t by = 0;  // what `value` says, where the sign is not =
};

// Commas stand between settings, but for those in double quotes.
absl::StatusOr<std::vector<SettingChange>> ReadChanges(const std::string& text);

// `number` after += -= or *=. InvalidArgument where it is less than 1 or more than `max`.
absl::StatusOr<std::int64_t> ChangedNumber(const SettingChange& change, std::int64_t number,
                                           std::int64_t max);

// The three of `known` that are spelt most like `key`: with the fewest insertions, deletions and
// replacements of a letter (Levenshtein, Soviet Physics Doklady 10(8), 1966), then by name.
std::string NearestNames(const std::string& key, const std::set<std::string>& known);

}  // namespace muster::cli
