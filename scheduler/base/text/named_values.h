#pragma once

// What a program says of its own progress, as text: NAME=VALUE words, such as "loss=0.31 step=400".
//
// Pure. Invariants: a name is one of IsValueName; a value is a number of double's, "nan" and "inf"
// among them; at most kNamedValuesMax words, each name once.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace muster {

inline constexpr std::size_t kNamedValuesMax = 32;
inline constexpr std::size_t kValueNameBytesMax = 64;
// Of all words together.
inline constexpr std::size_t kNamedValuesBytesMax = 4096;

// The words by which a program says whose step it is of which it tells, by the numbers of its
// environment: whose process it is can be known only while it lives.
inline constexpr const char* kTellersStep = "MUSTER_STEP_ID";
inline constexpr const char* kTellersRank = "MUSTER_PROCID";

struct NamedValue {
  std::string name;
  double value = 0;
  friend bool operator==(const NamedValue&, const NamedValue&) = default;
};

// A letter, then letters, digits, ".", "_", "-" and "/": "train/loss", "tokens/s".
bool IsValueName(std::string_view name);

// InvalidArgument names the word that is none, and how one is written.
absl::StatusOr<std::vector<NamedValue>> ParseNamedValues(std::string_view text);

}  // namespace muster
