#include "agent/kernels/place/partition.h"

#include <gtest/gtest.h>

namespace muster::kernels {
namespace {

TEST(BlockRangeTest, BlocksCoverEveryIndexOnceInOrderForAllSmallCases) {
  for (int64_t n = 0; n <= 40; ++n) {
    for (int64_t parts = 1; parts <= 12; ++parts) {
      for (int64_t grain = 1; grain <= 9; ++grain) {
        int64_t next = 0;
        for (int64_t index = 0; index < parts; ++index) {
          const IndexRange block = BlockRange(n, parts, index, grain);
          ASSERT_EQ(block.begin, next);
          ASSERT_GE(block.size(), 0);
          ASSERT_TRUE(block.begin % grain == 0 || block.begin == n);
          next = block.end;
        }
        ASSERT_EQ(next, n) << parts << " parts, grain " << grain;
      }
    }
  }
}

TEST(BlockRangeTest, SizesDifferByAtMostOne) {
  for (int64_t n = 0; n <= 60; ++n) {
    for (int64_t parts = 1; parts <= 12; ++parts) {
      const int64_t first = BlockRange(n, parts, 0).size();
      const int64_t last = BlockRange(n, parts, parts - 1).size();
      ASSERT_LE(first - last, 1);
      ASSERT_GE(first, last);
    }
  }
}

TEST(BlockRangeTest, TheLargestSizesDoNotOverflow) {
  const int64_t n = int64_t{1} << 50;
  const IndexRange last = BlockRange(n - 3, 4096, 4095, 8);
  EXPECT_EQ(last.end, n - 3);
  EXPECT_EQ(last.begin % 8, 0);
}

}  // namespace
}  // namespace muster::kernels
