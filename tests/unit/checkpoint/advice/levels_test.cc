#include "checkpoint/advice/levels.h"

#include <gtest/gtest.h>

#include <cmath>

namespace muster::checkpoint {
namespace {

constexpr double kHour = 3600;

std::vector<Level> ReferenceLevels() {
  return {{2, 8 * kHour}, {8, 24 * kHour}, {120, 168 * kHour}};
}

TEST(Levels, TheFormulasGiveTheDigitsOfTheReferenceTable) {
  const LevelsPlan plan = PlanLevels(ReferenceLevels());
  ASSERT_EQ(plan.error, IntervalError::kNone);
  ASSERT_EQ(plan.levels.size(), 3U);
  EXPECT_NEAR(plan.levels[0].interval_s, 339.4, 0.05);
  EXPECT_NEAR(plan.levels[1].interval_s, 1175.8, 0.05);
  EXPECT_NEAR(plan.levels[2].interval_s, 12047.9, 0.05);
  EXPECT_NEAR(plan.levels[0].overhead, 0.011785, 5e-7);
  EXPECT_NEAR(plan.levels[1].overhead, 0.013608, 5e-7);
  EXPECT_NEAR(plan.levels[2].overhead, 0.019920, 5e-7);
  EXPECT_NEAR(plan.overhead, 0.04531, 5e-6);
}

TEST(Levels, TheSharedFileSystemAloneCostsMoreThanTwiceAsMuch) {
  const double rate = 1 / (8 * kHour) + 1 / (24 * kHour) + 1 / (168 * kHour);
  const LevelsPlan alone = PlanLevels({{120, 1 / rate}});
  EXPECT_NEAR(alone.levels[0].interval_s, 2237.2, 0.05);
  EXPECT_NEAR(alone.overhead, 0.10728, 5e-6);
}

TEST(Levels, NestedIntervalsAreWholeMultiplesAndCostLittleMore) {
  const LevelsPlan free = PlanLevels(ReferenceLevels());
  const LevelsPlan nested = PlanNestedLevels(ReferenceLevels());
  EXPECT_DOUBLE_EQ(nested.levels[1].interval_s / nested.levels[0].interval_s, 3);
  EXPECT_DOUBLE_EQ(nested.levels[2].interval_s / nested.levels[1].interval_s, 10);
  EXPECT_GE(nested.overhead, free.overhead);
  EXPECT_LT(nested.overhead, free.overhead * 1.01);
}

TEST(Levels, AMultipleIsTheNearestWholeNumberAndAtLeastOne) {
  EXPECT_EQ(NestedMultiple(1175.8, 339.4), 3U);
  EXPECT_EQ(NestedMultiple(12047.9, 1175.8), 10U);
  EXPECT_EQ(NestedMultiple(7, 2), 4U);
  EXPECT_EQ(NestedMultiple(1, 1000), 1U);
  EXPECT_EQ(NestedMultiple(1e300, 1), 1'000'000'000'000'000U);
}

TEST(Levels, ALevelThatCannotBePlannedSaysWhy) {
  EXPECT_EQ(PlanLevels({{2, 100}, {std::nan(""), 100}}).error, IntervalError::kNotANumber);
  EXPECT_EQ(PlanNestedLevels({{2, 100}, {0, 100}}).error, IntervalError::kFreeOfCost);
  EXPECT_TRUE(PlanNestedLevels({{2, 100}, {0, 100}}).levels.empty());
}

}  // namespace
}  // namespace muster::checkpoint
