// Large numbers and rates as people write them.

#include "cli/parse/scaled_number.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"

namespace muster::cli {
namespace {

std::uint64_t Number(const std::string& text) {
  return ParseScaledNumber(text).value_or(0);
}

std::uint64_t Rate(const std::string& text) {
  return ParseBandwidth(text).value_or(0);
}

TEST(ParseScaledNumber, TakesExponentsAndSuffixes) {
  EXPECT_EQ(Number("7e9"), 7'000'000'000U);
  EXPECT_EQ(Number("7B"), 7'000'000'000U);
  EXPECT_EQ(Number("7000000000"), 7'000'000'000U);
  EXPECT_EQ(Number("1.3B"), 1'300'000'000U);
  EXPECT_EQ(Number("350M"), 350'000'000U);
  EXPECT_EQ(Number("1.75e11"), 175'000'000'000U);
  EXPECT_EQ(Number("0.5K"), 500U);
  EXPECT_EQ(Number("1T"), 1'000'000'000'000U);
  EXPECT_EQ(Number("1e18"), kScaledNumberMax);
}

TEST(ParseScaledNumber, RefusesWhatIsNone) {
  for (const char* text :
       {"",     "0",     "-7e9", "+7e9", "7x", "B",  "7BB", "nan", "inf",  "1e19",
        "2e18", "1e400", "1.5",  "0x10", " 7", "7 ", "7b",  "7k",  "1e-3", "१"}) {
    EXPECT_EQ(Number(text), 0U) << text;
  }
  EXPECT_THAT(std::string(ParseScaledNumber("many").status().message()),
              ::testing::HasSubstr("\"many\" is not a number: use 7e9"));
}

TEST(ParseBandwidth, TakesBytesAndBits) {
  EXPECT_EQ(Rate("50e9"), 50'000'000'000U);
  EXPECT_EQ(Rate("50GB/s"), 50'000'000'000U);
  EXPECT_EQ(Rate("12.5GB/s"), 12'500'000'000U);
  EXPECT_EQ(Rate("50G"), 50'000'000'000U);
  EXPECT_EQ(Rate("400Gb/s"), 50'000'000'000U);
  EXPECT_EQ(Rate("400Gbps"), 50'000'000'000U);
  EXPECT_EQ(Rate("100Gbit/s"), 12'500'000'000U);
  EXPECT_EQ(Rate("900000B/s"), 900'000U);
}

TEST(ParseBandwidth, RefusesWhatIsNone) {
  for (const char* text : {"", "0", "50B", "GB/s", "B/s", "50 GB/s", "50GB", "50gb/s", "-1e9",
                           "nan", "1b/s", "50GB/h", "1e30"}) {
    EXPECT_EQ(Rate(text), 0U) << text;
  }
}

RC_GTEST_PROP(ParseScaledNumber, ReadsBackWhatItWasWrittenFrom, ()) {
  const auto number = *rc::gen::inRange<std::uint64_t>(1, 1'000'000'000'000'000);
  RC_ASSERT(Number(absl::StrCat(number)) == number);
  RC_ASSERT(Number(absl::StrCat(number, "e3")) == number * 1000);
  RC_ASSERT(Number(absl::StrCat(number, "K")) == number * 1000);
}

}  // namespace
}  // namespace muster::cli
