#include "cli/parse/number.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "scheduler/base/text/words.h"
#include "scheduler/base/utf8.h"

namespace muster::cli {
namespace {

bool IsControl(char byte) {
  const auto value = static_cast<unsigned char>(byte);
  return value < 0x20 || value == 0x7f;
}

}  // namespace

absl::StatusOr<std::uint32_t> ParseCount(std::string_view text, std::uint32_t max) {
  const absl::StatusOr<std::uint64_t> value = ParseDigits(text, max);
  if (!value.ok() || *value == 0) {
    return absl::InvalidArgumentError(
        absl::StrCat(Quote(text), " is not a count: use a whole number from 1 to ", max));
  }
  return static_cast<std::uint32_t>(*value);
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

}  // namespace muster::cli
