#include "scheduler/base/text/words.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace muster {
namespace {

TEST(Words, OneThingHasNoPlural) {
  EXPECT_EQ(Counted(1, "node"), "1 node");
  EXPECT_EQ(Counted(0, "node"), "0 nodes");
  EXPECT_EQ(Counted(1, "entry", "entries"), "1 entry");
  EXPECT_EQ(Counted(2, "entry", "entries"), "2 entries");
}

TEST(Words, AHashHasSixteenDigits) {
  EXPECT_EQ(HashText(0), "0000000000000000");
  EXPECT_EQ(HashText(0xabcdef), "0000000000abcdef");
}

TEST(Words, AQuoteIsOneShortLine) {
  EXPECT_EQ(Quote("a\nb"), "\"a\\nb\"");
  EXPECT_LT(Quote(std::string(1 << 20, 'a')).size(), 80U);
}

TEST(Words, DigitsAreDigitsAlone) {
  EXPECT_EQ(ParseDigits("007", 7).value(), 7U);
  for (const char* text : {"", " 1", "1 ", "+1", "-1", "0x1", "1e3", "1.0", "8"}) {
    EXPECT_FALSE(ParseDigits(text, 7).ok()) << text;
  }
}

TEST(Words, APlainNameStandsInAListAndAPath) {
  EXPECT_TRUE(IsPlainName("node-1.rack_2", 64));
  for (const char* text : {"", "a b", "a/b", "a,b", "ü", "abcde"}) {
    EXPECT_FALSE(IsPlainName(text, 4)) << text;
  }
  EXPECT_EQ(std::string(BadText("a\nb", "is bad").message()), "\"a\\nb\" is bad");
}

TEST(Words, AreWhatStandsBetweenBlanksAndLines) {
  EXPECT_EQ(SplitWords(" a  b\nc\n"), (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_TRUE(SplitWords("\n").empty());
}

TEST(Words, AFractionHasSixDecimals) {
  EXPECT_EQ(FractionText(0.25), "0.250000");
  EXPECT_EQ(FractionText(std::numeric_limits<double>::infinity()), "inf");
}

RC_GTEST_PROP(Words, DigitsReadBackWhatWasWritten, (std::uint64_t number)) {
  RC_ASSERT(
      ParseDigits(std::to_string(number), std::numeric_limits<std::uint64_t>::max()).value() ==
      number);
}

}  // namespace
}  // namespace muster
