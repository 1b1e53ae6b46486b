#include "scheduler/base/text/words.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <system_error>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "scheduler/base/utf8.h"

namespace muster {
namespace {

constexpr std::size_t kQuotedBytesMax = 60;

bool IsContinuation(char byte) {
  return (static_cast<unsigned char>(byte) & 0xc0U) == 0x80U;
}

}  // namespace

std::string Counted(std::uint64_t count, std::string_view noun) {
  return absl::StrCat(count, " ", std::string(noun), count == 1 ? "" : "s");
}

std::string Counted(std::uint64_t count, std::string_view one, std::string_view many) {
  return absl::StrCat(count, " ", std::string(count == 1 ? one : many));
}

std::string HashText(std::uint64_t hash) {
  return absl::StrCat(absl::Hex(hash, absl::kZeroPad16));
}

std::string Quote(std::string_view text) {
  if (text.size() <= kQuotedBytesMax) {
    return absl::StrCat("\"", EscapeControl(text), "\"");
  }
  std::size_t cut = kQuotedBytesMax;
  while (cut > 0 && IsContinuation(text[cut])) {
    --cut;
  }
  return absl::StrCat("\"", EscapeControl(text.substr(0, cut)), "…\"");
}

absl::Status BadText(std::string_view text, std::string_view mend) {
  return absl::InvalidArgumentError(absl::StrCat(Quote(text), " ", std::string(mend)));
}

bool IsNameCharacter(char c) {
  return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '.' || c == '_' || c == '-';
}

bool IsPlainName(std::string_view text, std::size_t bytes_max) {
  return !text.empty() && text.size() <= bytes_max &&
         std::all_of(text.begin(), text.end(), IsNameCharacter);
}

std::vector<std::string> SplitWords(const std::string& text) {
  return absl::StrSplit(text, absl::ByAnyChar(" \n"), absl::SkipEmpty());
}

std::string FractionText(double value) {
  return std::isinf(value) ? "inf" : absl::StrFormat("%.6f", value);
}

absl::StatusOr<std::uint64_t> ParseDigits(std::string_view text, std::uint64_t max) {
  std::uint64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (text.empty() || error != std::errc() || stop != end || value > max) {
    return absl::InvalidArgumentError("");
  }
  return value;
}

}  // namespace muster
