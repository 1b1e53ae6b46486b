#include "scheduler/base/decimal.h"

#include <algorithm>
#include <cstddef>
#include <string>

namespace muster {
namespace {

constexpr std::int64_t kExponentMax = 100'000;  // beyond it only 0 and what is too large remain
constexpr std::int64_t kDigitsMax = 37;         // 10^37 < 2^128

// 0.DIGITS * 10^point.
struct Scientific {
  std::string digits;
  std::int64_t point = 0;
};

bool IsDigit(char c) {
  return c >= '0' && c <= '9';
}

// Takes the digits that `text` begins with.
std::string_view TakeDigits(std::string_view* text) {
  std::size_t count = 0;
  while (count < text->size() && IsDigit((*text)[count])) {
    ++count;
  }
  const std::string_view digits = text->substr(0, count);
  text->remove_prefix(count);
  return digits;
}

// What follows the mantissa: nothing, or e with a whole number; clamped.
std::optional<std::int64_t> ReadExponent(std::string_view text) {
  if (text.empty()) {
    return 0;
  }
  if (text[0] != 'e' && text[0] != 'E') {
    return std::nullopt;
  }
  text.remove_prefix(1);
  const bool negative = !text.empty() && text[0] == '-';
  if (negative || (!text.empty() && text[0] == '+')) {
    text.remove_prefix(1);
  }
  const std::string_view digits = TakeDigits(&text);
  if (digits.empty() || !text.empty()) {
    return std::nullopt;
  }
  std::int64_t exponent = 0;
  for (const char digit : digits) {
    exponent = std::min(exponent * 10 + (digit - '0'), kExponentMax);
  }
  return negative ? -exponent : exponent;
}

std::optional<Scientific> Read(std::string_view text) {
  const std::string_view whole = TakeDigits(&text);
  std::string_view decimals;
  if (!text.empty() && text[0] == '.') {
    text.remove_prefix(1);
    decimals = TakeDigits(&text);
    if (decimals.empty()) {
      return std::nullopt;
    }
  }
  const std::optional<std::int64_t> exponent = ReadExponent(text);
  if (whole.empty() || (whole.size() > 1 && whole[0] == '0') || !exponent) {
    return std::nullopt;
  }
  Scientific number{.digits = std::string(whole) + std::string(decimals),
                    .point = static_cast<std::int64_t>(whole.size()) + *exponent};
  const std::size_t zeros = std::min(number.digits.find_first_not_of('0'), number.digits.size());
  number.digits.erase(0, zeros);
  number.point -= static_cast<std::int64_t>(zeros);
  return number;
}

}  // namespace

std::optional<absl::uint128> ParseDecimal(std::string_view text, int decimals, absl::uint128 max,
                                          Rounding rounding) {
  const std::optional<Scientific> number = Read(text);
  if (!number) {
    return std::nullopt;
  }
  if (number->digits.empty()) {
    return absl::uint128(0);
  }
  const std::string& digits = number->digits;
  const std::int64_t kept = number->point + decimals;  // digits before the cut
  if (kept > kDigitsMax) {
    return std::nullopt;
  }
  absl::uint128 value = 0;
  for (std::int64_t i = 0; i < kept; ++i) {
    const auto at = static_cast<std::size_t>(i);
    value = value * 10 + static_cast<unsigned>(at < digits.size() ? digits[at] - '0' : 0);
  }
  const auto cut = static_cast<std::size_t>(std::max<std::int64_t>(kept, 0));
  const bool loses = digits.find_first_not_of('0', cut) != std::string::npos;
  if (loses && rounding == Rounding::kRefuse) {
    return std::nullopt;
  }
  if (kept >= 0 && cut < digits.size() && digits[cut] >= '5') {
    value += 1;
  }
  return value <= max ? std::optional<absl::uint128>(value) : std::nullopt;
}

}  // namespace muster
