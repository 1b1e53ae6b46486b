#include "scheduler/base/decimal.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cstdio>
#include <string>

namespace muster {
namespace {

constexpr absl::uint128 kMax = absl::uint128(1) << 100;

std::int64_t Millionths(const std::string& text, Rounding rounding = Rounding::kRefuse) {
  const std::optional<absl::uint128> value = ParseDecimal(text, 6, kMax, rounding);
  return value ? static_cast<std::int64_t>(absl::Uint128Low64(*value)) : -1;
}

TEST(Decimal, ATenthIsATenth) {
  EXPECT_EQ(Millionths("0.1"), 100'000);
  EXPECT_EQ(Millionths("0"), 0);
  EXPECT_EQ(Millionths("0.000000"), 0);
  EXPECT_EQ(Millionths("12.345678"), 12'345'678);
  EXPECT_EQ(Millionths("1e3"), 1'000'000'000);
  EXPECT_EQ(Millionths("1.5E-2"), 15'000);
  EXPECT_EQ(Millionths("0.00001e+5"), 1'000'000);
  EXPECT_EQ(Millionths("0e999999999999999999999"), 0);
  EXPECT_EQ(Millionths("1.0000000"), 1'000'000);
}

TEST(Decimal, WhatIsNoNumberIsNothing) {
  for (const char* text : {"", "-1", "+1", ".5", "5.", "01", "1e", "1e+", "e1", "1x", " 1", "0x1",
                           "1.2.3", "nan", "inf", "1e1.5", "--1"}) {
    EXPECT_EQ(Millionths(text), -1) << text;
    EXPECT_EQ(Millionths(text, Rounding::kNearest), -1) << text;
  }
}

TEST(Decimal, WhatDoesNotFitIsRefusedOrRounded) {
  EXPECT_EQ(Millionths("0.0000001"), -1);
  EXPECT_EQ(Millionths("0.0000001", Rounding::kNearest), 0);
  EXPECT_EQ(Millionths("0.0000005", Rounding::kNearest), 1);
  EXPECT_EQ(Millionths("5e-8", Rounding::kNearest), 0);
  EXPECT_EQ(Millionths("1e-999999999999", Rounding::kNearest), 0);
  EXPECT_EQ(Millionths("1e999999999999", Rounding::kNearest), -1);
  EXPECT_EQ(ParseDecimal("1000.1", 0, 1000, Rounding::kNearest), absl::uint128(1000));
  EXPECT_EQ(ParseDecimal("1000.5", 0, 1000, Rounding::kNearest), std::nullopt);
}

TEST(Decimal, EverySixDecimalsComeBack) {
  EXPECT_TRUE(rc::check([](std::uint32_t value) {
    char text[32];
    std::snprintf(text, sizeof text, "%u.%06u", value / 1'000'000, value % 1'000'000);
    RC_ASSERT(Millionths(text) == std::int64_t{value});
  }));
}

}  // namespace
}  // namespace muster
