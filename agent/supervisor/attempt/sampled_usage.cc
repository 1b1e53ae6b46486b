#include "agent/supervisor/attempt/sampled_usage.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "agent/supervisor/attempt/replace_file.h"
#include "scheduler/model/value/fields.h"
#include "scheduler/runtime/file.h"

namespace muster::agent {
namespace {

constexpr std::size_t kNumbers = kFieldCount<Usage>;
// What earlier versions wrote: theirs may still lie there, or still run.
constexpr std::array<std::size_t, 4> kNumbersOfVersions = {3, 8, 19, kNumbers};
constexpr const char* kUnknown = "-";

// Of each place, its number; nothing: what nobody could tell.
using Numbers = std::array<std::optional<std::uint64_t>, kNumbers>;

void SetAmount(std::uint64_t number, Duration& amount) {
  amount = Duration(static_cast<std::int64_t>(number));
}
void SetAmount(std::uint64_t number, Bytes& amount) {
  amount = Bytes(number);
}
void SetAmount(std::uint64_t number, std::uint64_t& amount) {
  amount = number;
}
template <class Amount>
void SetAmount(std::optional<std::uint64_t> number, std::optional<Amount>& amount) {
  if (number.has_value()) {
    SetAmount(*number, amount.emplace());
  }
}
template <class Amount>
void SetAmount(std::optional<std::uint64_t> number, Amount& amount) {
  SetAmount(number.value_or(0), amount);
}

std::uint64_t NumberOf(Duration amount) {
  return static_cast<std::uint64_t>(amount.count());
}
std::uint64_t NumberOf(Bytes amount) {
  return amount.value();
}
std::uint64_t NumberOf(std::uint64_t amount) {
  return amount;
}
template <class Amount>
std::optional<std::uint64_t> NumberOf(const std::optional<Amount>& amount) {
  return amount.has_value() ? std::optional(NumberOf(*amount)) : std::nullopt;
}

}  // namespace

Usage ReadSampledUsage(const std::string& path) {
  const absl::StatusOr<std::string> text = ReadFile(path);
  if (!text.ok()) {
    return {};
  }
  const std::vector<std::string> words =
      absl::StrSplit(*text, absl::ByAnyChar(" \n"), absl::SkipEmpty());
  if (std::find(kNumbersOfVersions.begin(), kNumbersOfVersions.end(), words.size()) ==
      kNumbersOfVersions.end()) {
    return {};
  }
  Numbers numbers{};
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] != kUnknown && !absl::SimpleAtoi(words[i], &numbers[i].emplace())) {
      return {};
    }
  }
  Usage usage;
  Usage::Amounts(
      [&](auto... amount) { (SetAmount(numbers.at(amount.place), usage.*(amount.member)), ...); });
  return usage;
}

void WriteSampledUsage(const std::string& path, const Usage& usage) {
  Numbers numbers{};
  Usage::Amounts([&](auto... amount) {
    ((numbers.at(amount.place) = NumberOf(usage.*(amount.member))), ...);
  });
  const auto add_word = [](std::string* out, std::optional<std::uint64_t> number) {
    absl::StrAppend(out, number.has_value() ? absl::StrCat(*number) : kUnknown);
  };
  ReplaceFile(path, absl::StrJoin(numbers, " ", add_word) + "\n")
      .IgnoreError();  // the next one has it too
}

void AddSampled(const Usage& sampled, Usage& usage) {
  const auto add = [&](const auto& amount) {
    auto& known = usage.*(amount.member);
    if (amount.seen_by == SeenBy::kAgent) {
      known = sampled.*(amount.member);
    } else if (amount.seen_by == SeenBy::kBoth) {
      known = std::max(known, sampled.*(amount.member));
    }
  };
  Usage::Amounts([&](auto... amount) { (add(amount), ...); });
}

}  // namespace muster::agent
