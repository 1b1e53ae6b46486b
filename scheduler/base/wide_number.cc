#include "scheduler/base/wide_number.h"

#include <algorithm>

#include "scheduler/base/status.h"

namespace muster {
namespace {

constexpr std::uint64_t kLn2 = 0xb172'17f7'd1cf'79ab;  // floor(ln 2 * 2^64)

absl::uint128 Product(std::uint64_t a, std::uint64_t b) {
  return absl::uint128(a) * b;
}

}  // namespace

absl::uint128 MultiplyShift64(absl::uint128 a, std::uint64_t b) {
  return Product(absl::Uint128High64(a), b) +
         absl::Uint128High64(Product(absl::Uint128Low64(a), b));
}

std::uint64_t PowerOfTwoFraction(std::uint64_t fraction) {
  const std::uint64_t x = absl::Uint128High64(Product(fraction, kLn2));
  std::uint64_t sum = x;
  std::uint64_t term = x;
  for (std::uint64_t n = 2; term != 0; ++n) {
    term = absl::Uint128High64(Product(term, x)) / n;
    sum += term;
  }
  return sum;
}

// Adds limbs * factor * 2^(64 at) to *sum.
void WideProduct::AddProduct(const Limbs& limbs, std::uint64_t factor, std::size_t at, Limbs* sum) {
  std::uint64_t carry = 0;
  for (std::size_t i = 0; i < limbs.size(); ++i) {
    if (i + at >= sum->size()) {
      MUSTER_CHECK(factor == 0 || limbs[i] == 0);
      continue;
    }
    const absl::uint128 digit = Product(limbs[i], factor) + (*sum)[i + at] + carry;
    (*sum)[i + at] = absl::Uint128Low64(digit);
    carry = absl::Uint128High64(digit);
  }
  MUSTER_CHECK(carry == 0);
}

WideProduct& WideProduct::operator*=(absl::uint128 factor) {
  Limbs product{};
  AddProduct(limbs_, absl::Uint128Low64(factor), 0, &product);
  AddProduct(limbs_, absl::Uint128High64(factor), 1, &product);
  limbs_ = product;
  return *this;
}

bool operator<(const WideProduct& a, const WideProduct& b) {
  return std::lexicographical_compare(a.limbs_.rbegin(), a.limbs_.rend(), b.limbs_.rbegin(),
                                      b.limbs_.rend());
}

int CompareFractions(const std::array<absl::uint128, 2>& a, const std::array<absl::uint128, 2>& b,
                     const std::array<absl::uint128, 2>& c, const std::array<absl::uint128, 2>& d) {
  WideProduct left;
  left *= a[0];
  left *= a[1];
  left *= d[0];
  left *= d[1];
  WideProduct right;
  right *= c[0];
  right *= c[1];
  right *= b[0];
  right *= b[1];
  if (left == right) {
    return 0;
  }
  return left < right ? -1 : 1;
}

}  // namespace muster
