#include "agent/supervisor/attempt/sampled_usage.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "agent/supervisor/attempt/replace_file.h"
#include "scheduler/model/value/fields.h"
#include "scheduler/runtime/file.h"

namespace muster::agent {
namespace {

constexpr std::size_t kNumbers = kFieldCount<Usage>;
constexpr std::size_t kNumbersLeast = 3;  // what the first version wrote

using Numbers = std::array<std::uint64_t, kNumbers>;

void SetAmount(std::uint64_t number, Duration& amount) {
  amount = Duration(static_cast<std::int64_t>(number));
}
void SetAmount(std::uint64_t number, Bytes& amount) {
  amount = Bytes(number);
}
void SetAmount(std::uint64_t number, std::uint64_t& amount) {
  amount = number;
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

}  // namespace

Usage ReadSampledUsage(const std::string& path) {
  const absl::StatusOr<std::string> text = ReadFile(path);
  if (!text.ok()) {
    return {};
  }
  const std::vector<std::string> words =
      absl::StrSplit(*text, absl::ByAnyChar(" \n"), absl::SkipEmpty());
  if (words.size() != kNumbers && words.size() != kNumbersLeast) {
    return {};
  }
  Numbers numbers{};
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (!absl::SimpleAtoi(words[i], &numbers[i])) {
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
  ReplaceFile(path, absl::StrJoin(numbers, " ") + "\n").IgnoreError();  // the next one has it too
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
