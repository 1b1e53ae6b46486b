#include "scheduler/base/wide_number.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cmath>

namespace muster {
namespace {

TEST(WideNumber, AShiftedProductIsRoundedDown) {
  EXPECT_EQ(MultiplyShift64(absl::MakeUint128(1, 0), 7), 7U);
  EXPECT_EQ(MultiplyShift64(absl::MakeUint128(0, ~0ULL), 1), 0U);
  EXPECT_EQ(MultiplyShift64(absl::Uint128Max(), ~0ULL),
            absl::Uint128Max() - absl::MakeUint128(1, 0));
}

TEST(WideNumber, PowersOfTwoAreGoodToTheLastBitOfADouble) {
  EXPECT_EQ(PowerOfTwoFraction(0), 0U);
  for (int i = 1; i < 1000; ++i) {
    const double exponent = i / 1000.0;
    const auto fraction = static_cast<std::uint64_t>(std::ldexp(exponent, 64));
    EXPECT_DOUBLE_EQ(1 + std::ldexp(static_cast<double>(PowerOfTwoFraction(fraction)), -64),
                     std::exp2(exponent));
  }
  // floor((sqrt 2 - 1) * 2^64)
  const std::uint64_t root = PowerOfTwoFraction(std::uint64_t{1} << 63);
  EXPECT_LE(root, 7'640'891'576'956'012'808U);
  EXPECT_GE(root, 7'640'891'576'956'012'808U - 64);
}

TEST(WideNumber, PowersOfTwoRiseWithTheirExponent) {
  EXPECT_TRUE(rc::check([](std::uint64_t a) {
    const std::uint64_t step = 1ULL << 24;  // a millisecond of ten years is 2^25
    RC_PRE(a < ~std::uint64_t{0} - step);
    RC_ASSERT(PowerOfTwoFraction(a) < PowerOfTwoFraction(a + step));
  }));
}

TEST(WideNumber, FractionsCompareWithoutRounding) {
  const absl::uint128 large = absl::Uint128Max() >> 40;
  EXPECT_EQ(CompareFractions({1, 2}, {2, 2}, {2, 3}, {3, 4}), 0);
  EXPECT_EQ(CompareFractions({large, large}, {large, large}, {1, 1}, {1, 1}), 0);
  EXPECT_EQ(CompareFractions({large, large}, {large, large - 1}, {1, 1}, {1, 1}), 1);
  EXPECT_EQ(CompareFractions({large, large - 1}, {large, large}, {1, 1}, {1, 1}), -1);
}

TEST(WideNumber, FractionsCompareAsTheirCrossProducts) {
  EXPECT_TRUE(rc::check([](std::uint16_t a, std::uint16_t b, std::uint16_t c, std::uint16_t d) {
    RC_PRE(b != 0 && d != 0);
    const std::int64_t left = std::int64_t{a} * d;
    const std::int64_t right = std::int64_t{c} * b;
    const int order = left < right ? -1 : static_cast<int>(left > right);
    RC_ASSERT(CompareFractions({a, 1}, {1, b}, {c, 1}, {1, d}) == order);
    RC_ASSERT(CompareFractions({absl::uint128(a) << 90, 1}, {absl::uint128(1) << 90, b}, {1, c},
                               {d, 1}) == order);
  }));
}

}  // namespace
}  // namespace muster
