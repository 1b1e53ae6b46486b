#include "scheduler/base/plain_text.h"

#include <cstdint>
#include <cstring>

#include "absl/strings/str_format.h"
#include "scheduler/base/utf8.h"

namespace muster {

bool IsPrintableAscii(std::string_view text) {
  constexpr unsigned char kFirst = 0x20;
  constexpr unsigned char kCount = 0x5f;
  unsigned other = 0;
  for (const char byte : text) {
    other |= static_cast<unsigned>(static_cast<unsigned char>(byte - kFirst) >= kCount);
  }
  return other == 0;
}

std::size_t AsciiWords(std::string_view text) {
  constexpr std::uint64_t kHighBits = 0x8080808080808080U;
  std::size_t at = 0;
  for (std::uint64_t word = 0; at + sizeof(word) <= text.size(); at += sizeof(word)) {
    std::memcpy(&word, text.data() + at, sizeof(word));
    if ((word & kHighBits) != 0) {
      break;
    }
  }
  return at;
}

std::string AsUtf8(std::string_view text) {
  std::string repaired;
  while (!text.empty()) {
    const std::string_view character = FirstCharacter(text);
    text.remove_prefix(character.size());
    if (IsUtf8(character)) {
      repaired += character;
    } else {
      absl::StrAppendFormat(&repaired, "\\x%02x", static_cast<unsigned char>(character.front()));
    }
  }
  return repaired;
}

}  // namespace muster
