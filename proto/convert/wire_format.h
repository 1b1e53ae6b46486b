#pragma once

// The encoding of protobuf: numbers, lengths and tags, written and read.
//
// Invariants: a cursor never leaves its bytes, whatever they are.

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace muster::convert {

enum class WireType : std::uint8_t {
  kVarint = 0,
  kFixed64 = 1,
  kBytes = 2,
  kFixed32 = 5,
};

inline void PutVarint(std::uint64_t value, std::string* out) {
  constexpr std::uint64_t kMore = 0x80;
  while (value >= kMore) {
    out->push_back(static_cast<char>(value | kMore));
    value >>= 7U;
  }
  out->push_back(static_cast<char>(value));
}

inline void PutTag(std::uint32_t number, WireType type, std::string* out) {
  PutVarint((std::uint64_t{number} << 3U) | static_cast<std::uint64_t>(type), out);
}

inline void PutFixed64(std::uint64_t value, std::string* out) {
  for (unsigned shift = 0; shift < 64; shift += 8) {
    out->push_back(static_cast<char>(value >> shift));
  }
}

inline void PutBytes(std::uint32_t number, std::string_view bytes, std::string* out) {
  PutTag(number, WireType::kBytes, out);
  PutVarint(bytes.size(), out);
  out->append(bytes);
}

// A field whose length is known once its bytes are written: `write()` appends them.
template <class Write>
void PutNested(std::uint32_t number, std::string* out, const Write& write) {
  constexpr std::size_t kOneByte = 0x80;
  PutTag(number, WireType::kBytes, out);
  const std::size_t at = out->size();
  out->push_back('\0');
  write();
  const std::size_t length = out->size() - at - 1;
  if (length < kOneByte) {
    (*out)[at] = static_cast<char>(length);
    return;
  }
  std::string prefix;
  PutVarint(length, &prefix);
  out->replace(at, 1, prefix);
}

// Where one reads in a message's bytes.
class Cursor {
 public:
  explicit Cursor(std::string_view bytes) : rest_(bytes) {}
  [[nodiscard]] bool AtEnd() const { return rest_.empty(); }

  // False when the bytes end before the value does, or it is too long.
  [[nodiscard, gnu::noinline]] bool Varint(std::uint64_t* value) {
    constexpr unsigned kBitsMax = 64;
    constexpr std::uint8_t kMore = 0x80;
    *value = 0;
    for (unsigned shift = 0; shift < kBitsMax && !rest_.empty(); shift += 7) {
      const auto byte = static_cast<std::uint8_t>(rest_.front());
      rest_.remove_prefix(1);
      *value |= static_cast<std::uint64_t>(byte & ~kMore) << shift;
      if ((byte & kMore) == 0) {
        return true;
      }
    }
    return false;
  }
  [[nodiscard]] bool Tag(std::uint32_t* number, WireType* type) {
    constexpr std::uint64_t kNumberMax = (std::uint64_t{1} << 29U) - 1;
    std::uint64_t tag = 0;
    if (!Varint(&tag) || tag >> 3U == 0 || tag >> 3U > kNumberMax) {
      return false;
    }
    *number = static_cast<std::uint32_t>(tag >> 3U);
    *type = static_cast<WireType>(tag & 7U);
    return true;
  }
  [[nodiscard, gnu::noinline]] bool Bytes(std::string_view* bytes) {
    std::uint64_t length = 0;
    if (!Varint(&length) || length > rest_.size()) {
      return false;
    }
    *bytes = rest_.substr(0, static_cast<std::size_t>(length));
    rest_.remove_prefix(bytes->size());
    return true;
  }
  [[nodiscard]] bool Fixed64(std::uint64_t* value) {
    *value = 0;
    for (unsigned i = 0; i < sizeof(*value) && i < rest_.size(); ++i) {
      *value |= std::uint64_t{static_cast<std::uint8_t>(rest_[i])} << (8 * i);
    }
    return Drop(sizeof(*value));
  }
  [[nodiscard]] bool Skip(WireType type) {
    std::uint64_t number = 0;
    std::string_view bytes;
    switch (type) {
      case WireType::kVarint:
        return Varint(&number);
      case WireType::kBytes:
        return Bytes(&bytes);
      case WireType::kFixed64:
        return Drop(sizeof(std::uint64_t));
      case WireType::kFixed32:
        return Drop(sizeof(std::uint32_t));
    }
    return false;
  }

 private:
  bool Drop(std::size_t bytes) {
    if (bytes > rest_.size()) {
      return false;
    }
    rest_.remove_prefix(bytes);
    return true;
  }

  std::string_view rest_;
};

}  // namespace muster::convert
