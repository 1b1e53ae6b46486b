#include "cli/page/text.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "scheduler/base/plain_text.h"
#include "scheduler/base/utf8.h"

namespace muster::cli {
namespace {

struct Range {
  char32_t first;
  char32_t last;
};

// Unicode's wide and full-width blocks (East Asian Width W and F), in whole blocks.
constexpr std::array<Range, 9> kWide = {{{0x1100, 0x115f},
                                         {0x2e80, 0xa4cf},
                                         {0xac00, 0xd7a3},
                                         {0xf900, 0xfaff},
                                         {0xfe30, 0xfe6f},
                                         {0xff00, 0xff60},
                                         {0xffe0, 0xffe6},
                                         {0x1f300, 0x1faff},
                                         {0x20000, 0x3fffd}}};
// Combining marks and what joins or takes no room.
constexpr std::array<Range, 5> kNarrow = {
    {{0x0300, 0x036f}, {0x1ab0, 0x1aff}, {0x200b, 0x200f}, {0x20d0, 0x20ff}, {0xfe00, 0xfe0f}}};

template <std::size_t N>
bool IsIn(char32_t c, const std::array<Range, N>& ranges) {
  return std::any_of(ranges.begin(), ranges.end(),
                     [c](Range range) { return c >= range.first && c <= range.last; });
}

std::size_t WidthOf(char32_t c) {
  if (IsIn(c, kNarrow)) {
    return 0;
  }
  return IsIn(c, kWide) ? 2 : 1;
}

}  // namespace

std::size_t DisplayWidth(std::string_view text) {
  if (IsPrintableAscii(text)) {
    return text.size();
  }
  std::size_t width = 0;
  while (!text.empty()) {
    const std::string_view character = FirstCharacter(text);
    text.remove_prefix(character.size());
    width += WidthOf(DecodeCharacter(character));
  }
  return width;
}

std::string_view FirstColumns(std::string_view text, std::size_t width) {
  if (IsPrintableAscii(text)) {
    return text.substr(0, width);
  }
  std::string_view rest = text;
  std::size_t taken = 0;
  while (!rest.empty()) {
    const std::string_view character = FirstCharacter(rest);
    taken += WidthOf(DecodeCharacter(character));
    if (taken > width) {
      break;
    }
    rest.remove_prefix(character.size());
  }
  return text.substr(0, text.size() - rest.size());
}

std::string CutText(const std::string& text, std::size_t width, const Style& style) {
  if (DisplayWidth(text) <= width) {
    return text;
  }
  const std::string mark = style.utf8 ? "…" : "...";
  const std::size_t room = width - std::min(width, DisplayWidth(mark));
  return std::string(FirstColumns(text, room)) + mark;
}

std::string OrDash(const std::string& text) {
  return text.empty() ? "-" : text;
}

}  // namespace muster::cli
