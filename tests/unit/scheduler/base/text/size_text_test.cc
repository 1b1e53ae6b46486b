#include "scheduler/base/text/size_text.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <cstdint>
#include <limits>
#include <optional>
#include <string>

namespace muster {
namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;
constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;
constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();

TEST(SizeText, BytesTakeTheLargestUnitThatHoldsThem) {
  EXPECT_EQ(BytesText(0), "0 B");
  EXPECT_EQ(BytesText(1023), "1023 B");
  EXPECT_EQ(BytesText(1536), "1.5 KiB");
  EXPECT_EQ(BytesText(312 * kMiB), "312 MiB");
  EXPECT_EQ(BytesText(3 * kGiB), "3 GiB");
  EXPECT_EQ(BytesText(1536 * kGiB), "1.5 TiB");
  EXPECT_EQ(BytesText((std::uint64_t{2} << 30) - 1), "2 GiB");
  EXPECT_EQ(BytesText(~std::uint64_t{0}), "16777216 TiB");
}

TEST(SizeText, ARatioHasOneUnit) {
  EXPECT_EQ(BytesRatio(512 * kMiB, 8 * kGiB), "0.5/8 GiB");
  EXPECT_EQ(BytesRatio(0, 0), "0/0 B");
}

TEST(SizeText, AlmostEnoughDoesNotReadAsEnough) {
  EXPECT_EQ(BytesText(64 * kGiB - 1), "64 GiB");
  EXPECT_EQ(BytesText(64 * kGiB - 1, SizeRounding::kDown), "63.9 GiB");
}

TEST(SizeText, ProgramsGetTheLargestUnitThatIsExact) {
  EXPECT_EQ(SizeText(3 * kGiB), "3G");
  EXPECT_EQ(SizeText(1536 * kMiB), "1536M");
  EXPECT_EQ(SizeText(7), "7B");
  EXPECT_EQ(SizeText(0), "0");
  EXPECT_EQ(SlurmSizeText(100 * kMiB + 5), "100M");
  EXPECT_EQ(SlurmSizeText(5), "0");
}

TEST(SizeText, PlainNumbersMeanWhatTheirReaderSays) {
  EXPECT_EQ(ParseSize("5", PlainSize::kBytes, kMost), 5U);
  EXPECT_EQ(ParseSize("5", PlainSize::kMebibytes, kMost), 5 * kMiB);
  EXPECT_EQ(ParseSize("4g", PlainSize::kBytes, kMost), 4 * kGiB);
  EXPECT_EQ(ParseSize("4G", PlainSize::kBytes, 4 * kGiB - 1), std::nullopt);
  for (const char* text :
       {"", "G", "4GB", "10Q", "1.5G", "-1G", "+1G", "4 G", "4G ", "16E", "18446744073709551616"}) {
    EXPECT_EQ(ParseSize(text, PlainSize::kBytes, kMost), std::nullopt) << text;
  }
}

RC_GTEST_PROP(SizeText, ReadsBackWhatItWrites, (std::uint64_t bytes)) {
  const auto zeros = *rc::gen::inRange(0, 60);
  const std::uint64_t size = bytes >> zeros << zeros;
  RC_ASSERT(ParseSize(SizeText(size), PlainSize::kBytes, kMost) == std::optional(size));
  RC_ASSERT(ParseSize(SizeText(size), PlainSize::kMebibytes, kMost) == std::optional(size));
  RC_ASSERT(ParseSize(SlurmSizeText(size), PlainSize::kMebibytes, kMost) ==
            std::optional(size >> 20U << 20U));
}

}  // namespace
}  // namespace muster
