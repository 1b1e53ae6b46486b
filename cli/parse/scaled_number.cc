#include "cli/parse/scaled_number.h"

#include <array>
#include <optional>

#include "absl/numeric/int128.h"
#include "absl/strings/str_cat.h"
#include "scheduler/base/decimal.h"
#include "scheduler/base/text/words.h"

namespace muster::cli {
namespace {

struct Suffix {
  char letter;
  std::uint64_t factor;
};
constexpr std::array<Suffix, 5> kSuffixes = {{{'K', 1'000},
                                              {'M', 1'000'000},
                                              {'G', 1'000'000'000},
                                              {'B', 1'000'000'000},
                                              {'T', 1'000'000'000'000}}};
// Decimals that a number in front of a suffix may have.
constexpr int kDecimals = 12;
constexpr std::uint64_t kScale = 1'000'000'000'000;

// The factor of the suffix at the end of `text`, which is taken off.
std::uint64_t TakeSuffix(std::string_view* text) {
  for (const Suffix& suffix : kSuffixes) {
    if (!text->empty() && text->back() == suffix.letter) {
      text->remove_suffix(1);
      return suffix.factor;
    }
  }
  return 1;
}

std::optional<std::uint64_t> ReadScaled(std::string_view text) {
  const absl::uint128 factor = TakeSuffix(&text);
  const std::optional<absl::uint128> value = ParseDecimal(
      text, kDecimals, absl::uint128(kScaledNumberMax) * kScale / factor, Rounding::kRefuse);
  if (!value || *value * factor % kScale != 0 || *value == 0) {
    return std::nullopt;
  }
  return absl::Uint128Low64(*value * factor / kScale);
}

}  // namespace

absl::StatusOr<std::uint64_t> ParseScaledNumber(std::string_view text) {
  const std::optional<std::uint64_t> number = ReadScaled(text);
  if (!number) {
    return absl::InvalidArgumentError(
        absl::StrCat(Quote(text),
                     " is not a number: use 7e9, 7B, 1.3B or 350M, whole and at "
                     "least 1"));
  }
  return *number;
}

absl::StatusOr<std::uint64_t> ParseBandwidth(std::string_view text) {
  std::string_view number = text;
  std::uint64_t divisor = 1;
  struct Unit {
    std::string_view name;
    std::uint64_t divisor;
  };
  constexpr std::array<Unit, 4> kUnits = {{{"B/s", 1}, {"bit/s", 8}, {"b/s", 8}, {"bps", 8}}};
  for (const Unit& unit : kUnits) {
    if (number.size() >= unit.name.size() &&
        number.substr(number.size() - unit.name.size()) == unit.name) {
      number.remove_suffix(unit.name.size());
      divisor = unit.divisor;
      break;
    }
  }
  const bool billions = !number.empty() && number.back() == 'B';
  const std::optional<std::uint64_t> bits = billions ? std::nullopt : ReadScaled(number);
  if (!bits || *bits % divisor != 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        Quote(text), " is not a bandwidth: use bytes per second like 50e9 or 50GB/s, or 400Gb/s"));
  }
  return *bits / divisor;
}

}  // namespace muster::cli
