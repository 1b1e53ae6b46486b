#include "scheduler/base/plain_text.h"

#include <cstdint>
#include <cstring>

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

}  // namespace muster
