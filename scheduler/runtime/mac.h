#pragma once

// Message authentication: HMAC-SHA-256 (RFC 2104 over FIPS 180-4), the hash that it is made of, and
// the random bytes it needs.
//
// A code that only the holders of a key can make tells the messages of two processes from
// forgeries, on a network that others share. SHA-256 is OpenSSL's. Invariant: how long a comparison
// takes says nothing about where two codes differ.

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace muster {

inline constexpr std::size_t kMacBytes = 32;

// The code of `parts`, taken one after the other, under `key`. The caller sees to it that no other
// parts make the same text.
std::string MacOf(std::string_view key, std::initializer_list<std::string_view> parts);

// Whether both are the same bytes.
bool SameBytes(std::string_view a, std::string_view b);

// The SHA-256 of bytes that come one piece after the other. Thread promise: one owner.
class Sha256 {
 public:
  Sha256();
  Sha256(Sha256&&) noexcept;
  Sha256& operator=(Sha256&&) noexcept;
  ~Sha256();

  void Add(std::string_view piece);
  // 64 lower-case hex digits. It is of no use afterwards.
  std::string Hex();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// `count` bytes of the kernel's randomness.
absl::StatusOr<std::string> RandomBytes(std::size_t count);

}  // namespace muster
