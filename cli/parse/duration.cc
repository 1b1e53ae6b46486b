#include "cli/parse/duration.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "cli/parse/time_limit.h"
#include "scheduler/base/text/words.h"

namespace muster::cli {
namespace {

struct Unit {
  std::string_view name;
  std::uint64_t milliseconds;
};

// From the longest down: each may follow only a longer one.
constexpr std::array<Unit, 6> kDurationUnits = {{{"w", 7 * 86'400'000ULL},
                                                 {"d", 86'400'000},
                                                 {"h", 3'600'000},
                                                 {"m", 60'000},
                                                 {"s", 1000},
                                                 {"ms", 1}}};
constexpr std::uint64_t kMost = static_cast<std::uint64_t>(kDurationMax.count());
constexpr std::size_t kDecimalsMax = 9;

bool IsDigit(char c) {
  return absl::ascii_isdigit(static_cast<unsigned char>(c));
}

std::string_view TakeDigits(std::string_view* text) {
  std::size_t length = 0;
  while (length < text->size() && IsDigit((*text)[length])) {
    ++length;
  }
  const std::string_view digits = text->substr(0, length);
  text->remove_prefix(length);
  return digits;
}

std::string_view TakeLetters(std::string_view* text) {
  std::size_t length = 0;
  while (length < text->size() && !IsDigit((*text)[length])) {
    ++length;
  }
  const std::string_view letters = text->substr(0, length);
  text->remove_prefix(length);
  return letters;
}

// `fraction` ("5" of 1.5) of a unit, where it is whole milliseconds.
std::optional<std::uint64_t> FractionOf(std::string_view fraction, std::uint64_t unit) {
  if (fraction.empty() || fraction.size() > kDecimalsMax) {
    return std::nullopt;
  }
  std::uint64_t scale = 1;
  for (std::size_t i = 0; i < fraction.size(); ++i) {
    scale *= 10;
  }
  const absl::StatusOr<std::uint64_t> value = ParseDigits(fraction, scale);
  if (!value.ok() || *value * unit % scale != 0) {  // below 1e9 * 7e8: far from 2^64
    return std::nullopt;
  }
  return *value * unit / scale;
}

// The whole of "1d12h"; nothing when it is not such a text.
std::optional<std::uint64_t> ParseUnits(std::string_view text) {
  std::uint64_t total = 0;
  const auto* allowed = kDurationUnits.begin();
  while (!text.empty()) {
    const std::string_view digits = TakeDigits(&text);
    std::string_view fraction;
    const bool pointed = !text.empty() && text.front() == '.';
    if (pointed) {
      text.remove_prefix(1);
      fraction = TakeDigits(&text);
    }
    const std::string_view name = TakeLetters(&text);
    const auto* unit = std::find_if(allowed, kDurationUnits.end(),
                                    [name](const Unit& u) { return u.name == name; });
    if (unit == kDurationUnits.end()) {
      return std::nullopt;
    }
    const absl::StatusOr<std::uint64_t> value = ParseDigits(digits, kMost / unit->milliseconds);
    const std::optional<std::uint64_t> part =
        pointed ? FractionOf(fraction, unit->milliseconds) : std::uint64_t{0};
    if (!value.ok() || !part) {
      return std::nullopt;
    }
    total += *value * unit->milliseconds + *part;  // six parts of 3.2e13 each at most
    allowed = unit + 1;
  }
  return total <= kMost ? std::optional(total) : std::nullopt;
}

// Slurm's forms, and a 0 of any of them.
std::optional<Duration> ParseSlurm(std::string_view text) {
  if (text.empty() || !IsDigit(text.front())) {
    return std::nullopt;  // UNLIMITED is no duration here
  }
  if (text == "0" || text == "00:00" || text == "00:00:00") {
    return Duration(0);
  }
  const absl::StatusOr<Duration> limit = ParseTimeLimit(text);
  return limit.ok() ? std::optional(*limit) : std::nullopt;
}

}  // namespace

absl::StatusOr<Duration> ParseDuration(std::string_view text) {
  if (const std::optional<Duration> slurm = ParseSlurm(text)) {
    return *slurm;
  }
  const std::optional<std::uint64_t> total =
      !text.empty() && IsDigit(text.front()) ? ParseUnits(text) : std::nullopt;
  if (!total) {
    return absl::InvalidArgumentError(absl::StrCat(
        Quote(text), " is not a duration: use 90s, 5m, 24h, 1d12h, 250ms, minutes or HH:MM:SS"));
  }
  return Duration(static_cast<std::int64_t>(*total));
}

}  // namespace muster::cli
