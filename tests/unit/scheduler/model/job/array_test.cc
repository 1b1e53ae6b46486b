#include "scheduler/model/job/array.h"

#include <gtest/gtest.h>

#include <vector>

namespace muster {
namespace {

ArraySpec Spec(std::vector<ArrayRange> ranges) {
  ArraySpec array;
  array.ranges = std::move(ranges);
  return array;
}

TEST(Array, CountsTheIndicesThatAStepLeaves) {
  EXPECT_EQ(RangeCount(ArrayRange{0, 9, 1}), 10U);
  EXPECT_EQ(RangeCount(ArrayRange{0, 9, 4}), 3U);
  EXPECT_EQ(RangeCount(ArrayRange{7, 7, 100}), 1U);
}

TEST(Array, CountsARangeThatEndsAtTheLargestIndexWithoutWrapping) {
  EXPECT_EQ(RangeCount(ArrayRange{0, UINT32_MAX, 1}), std::uint64_t{1} << 32);
  EXPECT_EQ(ElementIndexAt(Spec({{UINT32_MAX - 1, UINT32_MAX, 1}}), 1), UINT32_MAX);
}

TEST(Array, ARangeThatHoldsNothingHasNoElement) {
  EXPECT_EQ(RangeCount(ArrayRange{0, 9, 0}), 0U);
  EXPECT_EQ(RangeCount(ArrayRange{9, 0, 1}), 0U);
}

TEST(Array, NumbersElementsInTheOrderInWhichTheRangesWereWritten) {
  const ArraySpec array = Spec({{5, 9, 2}, {0, 1, 1}});
  EXPECT_EQ(ElementCount(array), 5U);
  std::vector<std::uint32_t> one_by_one;
  for (std::uint32_t i = 0; i < 5; ++i) {
    one_by_one.push_back(ElementIndexAt(array, i));
  }
  EXPECT_EQ(one_by_one, (std::vector<std::uint32_t>{5, 7, 9, 0, 1}));
  std::vector<std::uint32_t> visited;
  ForEachElement(array, [&](std::uint32_t index) { visited.push_back(index); });
  EXPECT_EQ(visited, one_by_one);
}

TEST(Array, TheIndicesOfARunOfElementsAreRangesToo) {
  const ArraySpec array{{{5, 9, 2}, {100, 103, 1}, {1, 1, 1}}, 0};
  for (std::uint32_t first = 0; first < 8; ++first) {
    for (std::uint32_t count = 0; first + count <= 8; ++count) {
      std::vector<std::uint32_t> indices;
      ForEachElement(ArraySpec{IndicesFrom(array, first, count), 0},
                     [&](std::uint32_t index) { indices.push_back(index); });
      ASSERT_EQ(indices.size(), count);
      for (std::uint32_t i = 0; i < count; ++i) {
        EXPECT_EQ(indices[i], ElementIndexAt(array, first + i));
      }
    }
  }
  EXPECT_EQ(IndicesFrom(array, 1, 4).size(), 2U);
}

TEST(Array, AnIndexLeadsBackToItsElement) {
  const ArraySpec array{{{5, 9, 2}, {100, 103, 1}, {1, 1, 1}}, 0};
  std::uint32_t ordinal = 0;
  ForEachElement(array,
                 [&](std::uint32_t index) { EXPECT_EQ(OrdinalOf(array, index), ordinal++); });
  for (const std::uint32_t index : {0U, 2U, 6U, 11U, 99U, 104U}) {
    EXPECT_EQ(OrdinalOf(array, index), std::nullopt) << index;
  }
}

TEST(ArrayDeathTest, AnOrdinalPastTheEndEndsTheProcess) {
  EXPECT_DEATH(static_cast<void>(ElementIndexAt(Spec({{0, 1, 1}}), 2)), "broken invariant");
}

}  // namespace
}  // namespace muster
