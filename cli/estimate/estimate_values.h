#pragma once

// Values of the options of muster estimate, read strictly.
//
// Pure. Every error is InvalidArgument with the option's name and the mend.

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "cli/frame/verb.h"
#include "scheduler/base/text/words.h"
#include "scheduler/core/place/estimate/expert_layers.h"

namespace muster::cli {

template <class T>
struct Word {
  const char* text;
  T value;
};

// The error of an option's value with the option's name in front.
absl::Status OptionError(const std::string& name, const absl::Status& status);

// The value of the word that the option names; without the option the first one's.
template <class T, std::size_t N>
absl::StatusOr<T> OneOf(const Invocation& invocation, const std::string& name,
                        const std::array<Word<T>, N>& words) {
  const std::string text =
      invocation.Has(name) ? invocation.Value(name) : std::string(words.front().text);
  std::string known;
  for (const Word<T>& word : words) {
    if (text == word.text) {
      return word.value;
    }
    absl::StrAppend(&known, known.empty() ? "" : ", ", word.text);
  }
  return absl::InvalidArgumentError(
      absl::StrCat("--", name, ": ", Quote(text), " is not one: use ", known));
}

// A whole number from 1 on.
absl::StatusOr<std::uint32_t> CountOf(const Invocation& invocation, const std::string& name,
                                      std::uint32_t otherwise);

// A large number, "7e9" or "7B". REQUIRES: the option is given.
absl::StatusOr<std::uint64_t> ScaledOf(const Invocation& invocation, const std::string& name);

// Bytes a second. REQUIRES: the option is given.
absl::StatusOr<double> BandwidthOf(const Invocation& invocation, const std::string& name);

// Not negative, to the millionth. REQUIRES: the option is given.
absl::StatusOr<double> AmountOf(const Invocation& invocation, const std::string& name);

// A part of a whole: above 0 and at most 1.
absl::StatusOr<double> PartOf(const Invocation& invocation, const std::string& name,
                              double otherwise);

// --params, which has to be there.
absl::StatusOr<std::uint64_t> ParametersOf(const Invocation& invocation);

// --experts and what goes with it; nothing without. The experts hold no more than `parameters`.
absl::StatusOr<std::optional<core::ExpertShape>> ExpertsOf(const Invocation& invocation,
                                                           std::uint64_t parameters);

}  // namespace muster::cli
