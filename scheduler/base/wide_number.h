#pragma once

// Products that do not fit 64 bits, so that fractions are compared and scaled without rounding.
//
// Invariant: WideProduct is exact: it holds 384 bits, and a product that needs more ends the
// process.

#include <array>
#include <cstddef>
#include <cstdint>

#include "absl/numeric/int128.h"

namespace muster {

// floor(a * b / 2^64). REQUIRES: the result is below 2^128.
absl::uint128 MultiplyShift64(absl::uint128 a, std::uint64_t b);

// floor((2^f - 1) * 2^64) for f = fraction / 2^64, good to 2^-58: the same bits on every machine,
// which libm's exp2 does not promise. The series of exp(f ln 2), Abramowitz and Stegun 4.2.1.
std::uint64_t PowerOfTwoFraction(std::uint64_t fraction);

class WideProduct {
 public:
  WideProduct() { limbs_[0] = 1; }
  WideProduct& operator*=(absl::uint128 factor);

  friend bool operator==(const WideProduct&, const WideProduct&) = default;
  friend bool operator<(const WideProduct& a, const WideProduct& b);

 private:
  using Limbs = std::array<std::uint64_t, 6>;
  static void AddProduct(const Limbs& limbs, std::uint64_t factor, std::size_t at, Limbs* sum);

  Limbs limbs_{};  // the lowest first
};

// -1, 0 or 1 as a/b is below, equal to or above c/d, each given by its factors. REQUIRES: no
// denominator is 0.
int CompareFractions(const std::array<absl::uint128, 2>& a, const std::array<absl::uint128, 2>& b,
                     const std::array<absl::uint128, 2>& c, const std::array<absl::uint128, 2>& d);

}  // namespace muster
