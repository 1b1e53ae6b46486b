#include "scheduler/base/utf8.h"

#include <algorithm>
#include <cstddef>

#include "absl/strings/str_format.h"
#include "scheduler/base/plain_text.h"

namespace muster {
namespace {

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

// The bytes of the character that `text` begins with; 0 when it begins with none.
std::size_t CharacterBytes(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  const std::size_t length = SequenceLength(lead);
  if (length == 0 || text.size() < length) {
    return 0;
  }
  const std::string_view tail = text.substr(1, length - 1);
  const bool whole = std::all_of(tail.begin(), tail.end(), IsContinuation) &&
                     (length == 1 || SecondByteFits(lead, static_cast<unsigned char>(tail[0])));
  return whole ? length : 0;
}

}  // namespace

bool IsUtf8(std::string_view text) {
  for (text.remove_prefix(AsciiWords(text)); !text.empty(); text.remove_prefix(AsciiWords(text))) {
    const std::size_t bytes = CharacterBytes(text);
    if (bytes == 0) {
      return false;
    }
    text.remove_prefix(bytes);
  }
  return true;
}

std::string_view FirstCharacter(std::string_view text) {
  return text.substr(0, std::max<std::size_t>(CharacterBytes(text), 1));
}

char32_t DecodeCharacter(std::string_view bytes) {
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

bool IsControlCharacter(char32_t c) {
  return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x061c || c == 0x200e || c == 0x200f ||
         (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
}

std::string Printable(std::string_view text) {
  if (IsPrintableAscii(text)) {
    return std::string(text);
  }
  std::string printable;
  printable.reserve(text.size());
  while (!text.empty()) {
    const std::string_view character = FirstCharacter(text);
    text.remove_prefix(character.size());
    if (IsUtf8(character) && !IsControlCharacter(DecodeCharacter(character))) {
      printable += character;
      continue;
    }
    for (const char byte : character) {
      absl::StrAppendFormat(&printable, "\\x%02x", static_cast<unsigned char>(byte));
    }
  }
  return printable;
}

std::string EscapeControl(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const std::size_t plain = std::min(text.find_first_of("\n\t\r\\"), text.size());
    out += Printable(text.substr(0, plain));
    text.remove_prefix(plain);
    if (!text.empty()) {
      const char c = text.front();
      out += c == '\n' ? "\\n" : c == '\t' ? "\\t" : c == '\r' ? "\\r" : "\\\\";
      text.remove_prefix(1);
    }
  }
  return out;
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
