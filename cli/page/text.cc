#include "cli/page/text.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "cli/parse/number.h"

namespace muster {
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

// Bytes of the character that starts with `lead`; 1 for a byte that starts none.
std::size_t BytesOf(unsigned char lead) {
  if (lead >= 0xf0) {
    return 4;
  }
  if (lead >= 0xe0) {
    return 3;
  }
  return lead >= 0xc0 ? 2 : 1;
}

// The character that well-formed `bytes` hold.
char32_t Decode(std::string_view bytes) {
  const auto lead = static_cast<unsigned char>(bytes[0]);
  if (bytes.size() == 1) {
    return lead;
  }
  char32_t c = lead & (0xffU >> (bytes.size() + 1));
  for (const char byte : bytes.substr(1)) {
    c = (c << 6) | (static_cast<unsigned char>(byte) & 0x3fU);
  }
  return c;
}

// The first character of `text` as it stands there; the first byte when it begins none.
std::string_view FirstCharacter(std::string_view text) {
  const std::string_view bytes = text.substr(0, BytesOf(static_cast<unsigned char>(text[0])));
  return IsUtf8(bytes) ? bytes : text.substr(0, 1);
}

bool IsControl(char32_t c) {
  return c < 0x20 || (c >= 0x7f && c < 0xa0) || (c >= 0x202a && c <= 0x202e) ||
         (c >= 0x2066 && c <= 0x2069);
}

std::size_t WidthOf(char32_t c) {
  if (IsIn(c, kNarrow)) {
    return 0;
  }
  return IsIn(c, kWide) ? 2 : 1;
}

}  // namespace

std::string Printable(std::string_view text) {
  std::string printable;
  while (!text.empty()) {
    const std::string_view character = FirstCharacter(text);
    text.remove_prefix(character.size());
    if (IsUtf8(character) && !IsControl(Decode(character))) {
      printable += character;
      continue;
    }
    for (const char byte : character) {
      absl::StrAppend(&printable, absl::StrFormat("\\x%02x", static_cast<unsigned char>(byte)));
    }
  }
  return printable;
}

std::size_t DisplayWidth(std::string_view text) {
  std::size_t width = 0;
  while (!text.empty()) {
    const std::string_view character = FirstCharacter(text);
    text.remove_prefix(character.size());
    width += WidthOf(Decode(character));
  }
  return width;
}

std::string_view FirstColumns(std::string_view text, std::size_t width) {
  std::string_view rest = text;
  std::size_t taken = 0;
  while (!rest.empty()) {
    const std::string_view character = FirstCharacter(rest);
    taken += WidthOf(Decode(character));
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

}  // namespace muster
