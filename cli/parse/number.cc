#include "cli/parse/number.h"

#include <algorithm>
#include <charconv>

#include "absl/strings/str_cat.h"
#include "scheduler/runtime/log.h"

namespace muster {
namespace {

constexpr std::size_t kQuotedBytesMax = 60;

// How many bytes the character that begins with `lead` has; 0 when no character begins so.
std::size_t SequenceLength(unsigned char lead) {
  if (lead < 0x80) {
    return 1;
  }
  if (lead >= 0xc2 && lead <= 0xdf) {
    return 2;
  }
  if ((lead & 0xf0) == 0xe0) {
    return 3;
  }
  return lead >= 0xf0 && lead <= 0xf4 ? 4 : 0;
}

// The second byte's bounds shut out overlong forms, surrogates and what lies past U+10FFFF.
bool SecondByteFits(unsigned char lead, unsigned char second) {
  switch (lead) {
    case 0xe0:
      return second >= 0xa0;
    case 0xed:
      return second <= 0x9f;
    case 0xf0:
      return second >= 0x90;
    case 0xf4:
      return second <= 0x8f;
    default:
      return true;
  }
}

bool IsContinuation(char byte) {
  return (static_cast<unsigned char>(byte) & 0xc0) == 0x80;
}

bool IsControl(char byte) {
  const auto value = static_cast<unsigned char>(byte);
  return value < 0x20 || value == 0x7f;
}

}  // namespace

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

absl::StatusOr<std::uint64_t> ParseDigits(std::string_view text, std::uint64_t max) {
  std::uint64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (text.empty() || error != std::errc() || stop != end || value > max) {
    return absl::InvalidArgumentError("");
  }
  return value;
}

absl::StatusOr<std::uint32_t> ParseCount(std::string_view text, std::uint32_t max) {
  const absl::StatusOr<std::uint64_t> value = ParseDigits(text, max);
  if (!value.ok() || *value == 0) {
    return absl::InvalidArgumentError(
        absl::StrCat(Quote(text), " is not a count: use a whole number from 1 to ", max));
  }
  return static_cast<std::uint32_t>(*value);
}

bool IsUtf8(std::string_view text) {
  std::size_t i = 0;
  while (i < text.size()) {
    const auto lead = static_cast<unsigned char>(text[i]);
    const std::size_t length = SequenceLength(lead);
    if (length == 0 || text.size() - i < length) {
      return false;
    }
    const std::string_view tail = text.substr(i + 1, length - 1);
    if (!std::all_of(tail.begin(), tail.end(), IsContinuation) ||
        (length > 1 && !SecondByteFits(lead, static_cast<unsigned char>(tail[0])))) {
      return false;
    }
    i += length;
  }
  return true;
}

absl::Status CheckText(std::string_view text, std::size_t bytes_max) {
  if (text.size() > bytes_max) {
    return absl::InvalidArgumentError(
        absl::StrCat(Quote(text), " has ", text.size(), " bytes: use at most ", bytes_max));
  }
  if (!IsUtf8(text)) {
    return absl::InvalidArgumentError(
        absl::StrCat(Quote(text), " is not UTF-8: write it as UTF-8"));
  }
  if (std::any_of(text.begin(), text.end(), IsControl)) {
    return absl::InvalidArgumentError(
        absl::StrCat(Quote(text), " holds a control character: leave it out"));
  }
  return absl::OkStatus();
}

}  // namespace muster
