#pragma once

// Numbers of four bytes, the lowest byte first.
//
// The length that stands before each frame of our own protocols, and before each record of a
// journal. Pure. Invariant: NumberAt reads what PutNumber wrote, on every machine.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace muster {

inline constexpr std::size_t kNumberBytes = 4;

// REQUIRES: number < 2^32.
inline void PutNumber(std::uint64_t number, std::string& out) {
  for (std::size_t i = 0; i < kNumberBytes; ++i) {
    out.push_back(static_cast<char>((number >> (8 * i)) & 0xffU));
  }
}

// REQUIRES: at + kNumberBytes <= bytes.size().
inline std::size_t NumberAt(std::string_view bytes, std::size_t at) {
  std::size_t number = 0;
  for (std::size_t i = 0; i < kNumberBytes; ++i) {
    number |= std::size_t{static_cast<unsigned char>(bytes[at + i])} << (8 * i);
  }
  return number;
}

}  // namespace muster
