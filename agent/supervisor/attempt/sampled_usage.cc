#include "agent/supervisor/attempt/sampled_usage.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "agent/supervisor/attempt/replace_file.h"
#include "scheduler/model/value/fields.h"
#include "scheduler/runtime/file.h"

namespace muster::agent {
namespace {

constexpr std::size_t kNumbers = decltype(Usage::Amounts(CountFields{}))::value;
// What earlier versions wrote: theirs may still lie there, or still run.
constexpr std::array<std::size_t, 4> kNumbersOfVersions = {3, 8, 19, kNumbers};
constexpr const char* kUnknown = "-";
// A line of a file system after that of the numbers: "12 34 /data", with C's escapes.
constexpr std::size_t kWordsOfFileSystem = 3;

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

// False: it is no line of a file system.
bool ReadFileSystem(const std::string& line, Usage& usage) {
  const std::vector<std::string> words =
      absl::StrSplit(line, absl::MaxSplits(' ', kWordsOfFileSystem - 1));
  FileSystemUse& use = usage.file_systems.emplace_back();
  std::uint64_t read = 0;
  std::uint64_t written = 0;
  if (words.size() != kWordsOfFileSystem || !absl::SimpleAtoi(words[0], &read) ||
      !absl::SimpleAtoi(words[1], &written) || !absl::CUnescape(words[2], &use.mount)) {
    return false;
  }
  use.read = Bytes(read);
  use.written = Bytes(written);
  return true;
}

}  // namespace

Usage ReadSampledUsage(const std::string& path) {
  const absl::StatusOr<std::string> text = ReadFile(path);
  if (!text.ok()) {
    return {};
  }
  const std::vector<std::string> lines = absl::StrSplit(*text, '\n', absl::SkipEmpty());
  const std::vector<std::string> words =
      absl::StrSplit(lines.empty() ? "" : lines.front(), ' ', absl::SkipEmpty());
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
  for (std::size_t i = 1; i < lines.size(); ++i) {
    if (!ReadFileSystem(lines[i], usage)) {
      return {};
    }
  }
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
  std::string text = absl::StrJoin(numbers, " ", add_word) + "\n";
  for (const FileSystemUse& use : usage.file_systems) {
    absl::StrAppend(&text, use.read.value(), " ", use.written.value(), " ",
                    absl::CEscape(use.mount), "\n");
  }
  ReplaceFile(path, text).IgnoreError();  // the next one has it too
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
  usage.file_systems = sampled.file_systems;
}

}  // namespace muster::agent
