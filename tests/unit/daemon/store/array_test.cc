#include "scheduler/model/job/array.h"

#include <gtest/gtest.h>

namespace muster::daemon {
namespace {

TEST(ArrayTest, OrdinalsRunThroughTheRangesInOrder) {
  const ArraySpec array{{{5, 9, 2}, {1, 1, 1}, {100, 101, 1}}, 0};
  ASSERT_EQ(ElementCount(array), 6U);
  const std::uint32_t expected[] = {5, 7, 9, 1, 100, 101};
  for (std::uint32_t ordinal = 0; ordinal < 6; ++ordinal) {
    EXPECT_EQ(ElementIndexAt(array, ordinal), expected[ordinal]);
  }
}

TEST(ArrayTest, ALastThatTheStepDoesNotHitIsNotAnElement) {
  const ArraySpec array{{{0, 10, 4}}, 0};
  EXPECT_EQ(ElementCount(array), 3U);
  EXPECT_EQ(ElementIndexAt(array, 2), 8U);
}

TEST(ArrayTest, ARangeThatHoldsNothingHasNoElement) {
  EXPECT_EQ(ElementCount({{{5, 4, 1}, {0, 9, 0}}, 0}), 0U);
  EXPECT_EQ(ElementIndexAt({{{5, 4, 1}, {3, 3, 1}}, 0}, 0), 3U);
}

TEST(ArrayTest, TheCountOfAHugeArrayStopsAtTheLargestNumber) {
  EXPECT_EQ(ElementCount({{{0, 4294967295U, 1}, {0, 4294967295U, 1}}, 0}), 4294967295U);
}

TEST(ArrayDeathTest, AnOrdinalBeyondTheEndEndsTheProcess) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(ElementIndexAt({{{0, 4, 1}}, 0}, 5), "broken invariant");
}

}  // namespace
}  // namespace muster::daemon
