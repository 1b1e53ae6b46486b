#include "proto/convert/codec.h"

#include <bit>

#include "absl/strings/str_cat.h"
#include "scheduler/base/plain_text.h"
#include "scheduler/base/utf8.h"

namespace muster::convert {

absl::Status BadEnum(std::string_view message, std::string_view field, std::uint64_t value) {
  return absl::InvalidArgumentError(
      absl::StrCat(std::string(message), ".", std::string(field), ": unknown value ",
                   static_cast<std::int64_t>(value), "; the sender is newer than this program"));
}

absl::Status Missing(std::string_view message, std::string_view oneof) {
  return absl::InvalidArgumentError(
      absl::StrCat(std::string(message), ".", std::string(oneof),
                   ": empty or unknown; the sender is newer than this program"));
}

absl::Status Malformed(std::string_view message) {
  return absl::InvalidArgumentError(
      absl::StrCat(std::string(message), ": the bytes are no such message"));
}

void WriteNumber(std::uint32_t number, std::uint64_t value, bool present, std::string* out) {
  if (present || value != 0) {
    PutTag(number, WireType::kVarint, out);
    PutVarint(value, out);
  }
}

void WriteText(std::uint32_t number, std::string_view text, bool present, bool utf8,
               std::string* out) {
  if (!present && text.empty()) {
    return;
  }
  if (utf8 && !IsUtf8(text)) {
    PutBytes(number, AsUtf8(text), out);
  } else {
    PutBytes(number, text, out);
  }
}

void WriteDouble(std::uint32_t number, double value, bool present, std::string* out) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  if (present || bits != 0) {
    PutTag(number, WireType::kFixed64, out);
    PutFixed64(bits, out);
  }
}

absl::Status ReadNumber(std::string_view message, WireType type, Cursor* cursor,
                        std::uint64_t* number) {
  return type == WireType::kVarint && cursor->Varint(number) ? absl::OkStatus()
                                                             : Malformed(message);
}

absl::Status ReadDouble(std::string_view message, WireType type, Cursor* cursor, double* value) {
  std::uint64_t bits = 0;
  if (type != WireType::kFixed64 || !cursor->Fixed64(&bits)) {
    return Malformed(message);
  }
  *value = std::bit_cast<double>(bits);
  return absl::OkStatus();
}

absl::Status ReadBytes(std::string_view message, WireType type, Cursor* cursor,
                       std::string_view* bytes) {
  return type == WireType::kBytes && cursor->Bytes(bytes) ? absl::OkStatus() : Malformed(message);
}

}  // namespace muster::convert
