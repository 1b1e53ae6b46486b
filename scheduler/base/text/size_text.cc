#include "scheduler/base/text/size_text.h"

#include <cstddef>

#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "scheduler/base/text/words.h"

namespace muster {
namespace {

constexpr unsigned kShiftStep = 10;
constexpr std::string_view kSizeLetters = "BKMGTPE";
constexpr unsigned kMebibyteShift = 20;

struct ByteUnit {
  std::uint64_t bytes;
  const char* name;
};

ByteUnit ByteUnitOf(std::uint64_t bytes) {
  constexpr ByteUnit kUnits[] = {{std::uint64_t{1} << 40, "TiB"},
                                 {std::uint64_t{1} << 30, "GiB"},
                                 {std::uint64_t{1} << 20, "MiB"},
                                 {std::uint64_t{1} << 10, "KiB"}};
  for (const ByteUnit& unit : kUnits) {
    if (bytes >= unit.bytes) {
      return unit;
    }
  }
  return {1, "B"};
}

// In tenths, without a decimal that is zero.
std::string InUnit(std::uint64_t bytes, ByteUnit unit, SizeRounding rounding) {
  const std::uint64_t whole = bytes / unit.bytes;
  const std::uint64_t half = rounding == SizeRounding::kNearest ? unit.bytes / 2 : 0;
  const std::uint64_t tenths = (bytes % unit.bytes * 10 + half) / unit.bytes;
  if (tenths == 0 || tenths == 10) {
    return absl::StrCat(whole + tenths / 10);
  }
  return absl::StrCat(whole, ".", tenths);
}

}  // namespace

std::string BytesText(std::uint64_t bytes, SizeRounding rounding) {
  const ByteUnit unit = ByteUnitOf(bytes);
  return absl::StrCat(InUnit(bytes, unit, rounding), " ", unit.name);
}

std::string BytesRatio(std::uint64_t taken, std::uint64_t all) {
  const ByteUnit unit = ByteUnitOf(all);
  return absl::StrCat(InUnit(taken, unit, SizeRounding::kNearest), "/",
                      InUnit(all, unit, SizeRounding::kNearest), " ", unit.name);
}

std::string SizeText(std::uint64_t bytes) {
  if (bytes == 0) {
    return "0";
  }
  std::size_t unit = 0;
  while (bytes % (std::uint64_t{1} << kShiftStep) == 0) {
    bytes >>= kShiftStep;
    ++unit;
  }
  return absl::StrCat(bytes, std::string(1, kSizeLetters[unit]));
}

std::string SlurmSizeText(std::uint64_t bytes) {
  return SizeText(bytes >> kMebibyteShift << kMebibyteShift);
}

std::optional<std::uint64_t> ParseSize(std::string_view text, PlainSize plain, std::uint64_t max) {
  unsigned shift = plain == PlainSize::kBytes ? 0 : kMebibyteShift;
  if (!text.empty()) {
    const char last = absl::ascii_toupper(static_cast<unsigned char>(text.back()));
    if (const std::size_t at = kSizeLetters.find(last); at != std::string_view::npos) {
      shift = kShiftStep * static_cast<unsigned>(at);
      text.remove_suffix(1);
    }
  }
  const absl::StatusOr<std::uint64_t> number = ParseDigits(text, max >> shift);
  return number.ok() ? std::optional(*number << shift) : std::nullopt;
}

}  // namespace muster
