#include "checkpoint/advice/interval.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace muster::checkpoint {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// A row of the reference table, with the digits that it prints.
struct Row {
  FailureModel model;
  double young;
  double daly1;
  double daly;
  double exact;
  double ratio;  // at Daly's higher order
};

const std::vector<Row>& Table() {
  static const std::vector<Row> rows = {
      {{5, 1440, 10}, 120.000, 120.416, 116.690, 116.690, 1.09576},
      {{5, 15, 10}, 12.247, 15.811, 9.141, 9.167, 5.00833},
      {{60, 86400, 120}, 3219.938, 3222.173, 3180.062, 3180.063, 1.03966},
      {{600, 10800, 600}, 3600.000, 3698.648, 3211.111, 3211.614, 1.50453},
      {{30, 28440, 60}, 1306.292, 1307.670, 1286.369, 1286.369, 1.04959},
      {{100, 180, 30}, 189.737, 204.939, 128.926, 129.781, 4.23440},
  };
  return rows;
}

TEST(Interval, TheFormulasGiveTheDigitsOfTheReferenceTable) {
  constexpr double kHalfADigit = 0.0005001;
  for (const Row& row : Table()) {
    SCOPED_TRACE(row.model.mtbf_s);
    EXPECT_NEAR(Young(row.model).value, row.young, kHalfADigit);
    EXPECT_NEAR(DalyFirstOrder(row.model).value, row.daly1, kHalfADigit);
    EXPECT_NEAR(DalyHigherOrder(row.model).value, row.daly, kHalfADigit);
    EXPECT_NEAR(Optimum(row.model).value, row.exact, kHalfADigit);
    const Interval ratio = ExpectedRatio(row.model, DalyHigherOrder(row.model).value);
    EXPECT_NEAR(ratio.value, row.ratio, 0.000005001);
  }
}

TEST(Interval, TheModelAgreesWithTheSimulatedRuns) {
  const FailureModel model{5, 360, 10};
  EXPECT_NEAR(ExpectedRatio(model, 56.71).value, 1.2204, 0.00005);
  EXPECT_NEAR(ExpectedRatio(model, 60).value, 1.2207, 0.00005);
  EXPECT_NEAR(ExpectedRatio(model, 30).value, 1.2598, 0.00005);
  EXPECT_NEAR(ExpectedRatio(model, 120).value, 1.2805, 0.00005);
  EXPECT_NEAR(Optimum(model).value, 56.71, 0.005);
}

TEST(Interval, NoOtherIntervalIsBetterThanTheOptimum) {
  for (double ratio = 1e-9; ratio < 100; ratio *= 3) {
    const FailureModel model{1000 * ratio, 1000, 7};
    const Interval optimum = Optimum(model);
    ASSERT_TRUE(optimum) << Text(optimum.error);
    ASSERT_GT(optimum.value, 0);
    ASSERT_LT(optimum.value, model.mtbf_s * (1 + 1e-12));
    const double best = ExpectedRatio(model, optimum.value).value;
    for (const double factor : {0.5, 0.9, 1.1, 2.0}) {
      EXPECT_GT(ExpectedRatio(model, optimum.value * factor).value, best) << ratio;
    }
  }
}

TEST(Interval, ACheapCheckpointKeepsItsDigits) {
  // t/M = sqrt(2a) - 2a/3 + ..., of the series of W0 at its branch point.
  const FailureModel model{1e-9, 1e6, 0};
  const double a = 1e-15;
  EXPECT_NEAR(Optimum(model).value / (1e6 * (std::sqrt(2 * a) - a / 3 * 2)), 1, 1e-7);
}

TEST(Interval, AnIntervalWrongByAFactorWastesAsTheFormulaSays) {
  const FailureModel model{5, 1440, 0};
  const double young = Young(model).value;
  const double least = FirstOrderWaste(model, young).value;
  EXPECT_NEAR(FirstOrderWaste(model, young * 2).value / least, 1.25, 1e-12);
  EXPECT_NEAR(FirstOrderWaste(model, young / 4).value / least, 2.125, 1e-12);
  EXPECT_NEAR(FirstOrderWaste(model, young * std::sqrt(2)).value / least, 1.061, 0.0005);
}

TEST(Interval, AFreeCheckpointHasNoInterval) {
  for (auto* formula : {Young, DalyFirstOrder, DalyHigherOrder, Optimum}) {
    EXPECT_EQ(formula({0, 1440, 10}).error, IntervalError::kFreeOfCost);
  }
}

TEST(Interval, WithoutFailuresThereIsNoInterval) {
  for (auto* formula : {Young, DalyFirstOrder, DalyHigherOrder, Optimum}) {
    EXPECT_EQ(formula({5, kInfinity, 10}).error, IntervalError::kNoFailures);
  }
  EXPECT_DOUBLE_EQ(ExpectedRatio({5, kInfinity, 10}, 100).value, 1.05);
}

TEST(Interval, ACheckpointLongerThanTheTimeBetweenFailures) {
  EXPECT_DOUBLE_EQ(DalyHigherOrder({30, 15, 0}).value, 15);
  EXPECT_DOUBLE_EQ(DalyHigherOrder({300, 15, 0}).value, 15);
  const Interval optimum = Optimum({300, 15, 0});
  ASSERT_TRUE(optimum);
  EXPECT_LT(optimum.value, 15.0001);
  EXPECT_GT(optimum.value, 14.9);
  EXPECT_EQ(ExpectedRatio({1e6, 15, 0}, 15).error, IntervalError::kFailsAlways);
}

TEST(Interval, WhatIsNoNumberOrNoTimeIsRefused) {
  for (auto* formula : {Young, DalyFirstOrder, DalyHigherOrder, Optimum}) {
    EXPECT_EQ(formula({kNan, 1440, 10}).error, IntervalError::kNotANumber);
    EXPECT_EQ(formula({5, kNan, 10}).error, IntervalError::kNotANumber);
    EXPECT_EQ(formula({5, 1440, kNan}).error, IntervalError::kNotANumber);
    EXPECT_EQ(formula({-5, 1440, 10}).error, IntervalError::kNegative);
    EXPECT_EQ(formula({kInfinity, 1440, 10}).error, IntervalError::kNegative);
    EXPECT_EQ(formula({5, 0, 10}).error, IntervalError::kFailsAlways);
    EXPECT_EQ(formula({5, -1, 10}).error, IntervalError::kFailsAlways);
  }
  EXPECT_EQ(ExpectedRatio({5, 1440, 10}, kNan).error, IntervalError::kNotANumber);
  EXPECT_EQ(ExpectedRatio({5, 1440, 10}, 0).error, IntervalError::kFailsAlways);
  EXPECT_EQ(FirstOrderWaste({5, 1440, 10}, kNan).error, IntervalError::kNotANumber);
}

TEST(Interval, TheAvailabilityOptimumCountsTheCheckpointItself) {
  // By hand: 60 + sqrt(2 * 86520 * 60 + 3600).
  EXPECT_NEAR(AvailabilityOptimum({60, 86400, 120}).value, 60 + std::sqrt(10'386'000.0), 1e-9);
  EXPECT_EQ(AvailabilityOptimum({60, kInfinity, 120}).error, IntervalError::kNoFailures);
}

TEST(Recommend, AFreeCheckpointIsTakenAfterEachShortestInterval) {
  const Recommendation free = Recommend({0, 1440, 10}, {.min_s = 30, .max_s = 1e6});
  EXPECT_EQ(free.advice, Advice::kEvery);
  EXPECT_DOUBLE_EQ(free.interval_s, 30);
  EXPECT_TRUE(free.clamped);
}

TEST(Recommend, WithoutFailuresOnlyTheEndIsWorthACheckpoint) {
  EXPECT_EQ(Recommend({5, kInfinity, 10}, {}).advice, Advice::kAtEndOnly);
  EXPECT_EQ(RecommendFor({5, kInfinity, 10}, {}, 100, false).advice, Advice::kAtEndOnly);
  const Recommendation limit = RecommendFor({5, kInfinity, 10}, {}, 100, true);
  EXPECT_EQ(limit.advice, Advice::kEvery);
  EXPECT_DOUBLE_EQ(limit.interval_s, 95);
}

TEST(Recommend, TheBoundsHold) {
  const FailureModel model{5, 1440, 10};
  EXPECT_DOUBLE_EQ(Recommend(model, {.min_s = 200, .max_s = 300}).interval_s, 200);
  EXPECT_DOUBLE_EQ(Recommend(model, {.min_s = 1, .max_s = 60}).interval_s, 60);
  const Recommendation open = Recommend(model, {.min_s = 1, .max_s = 1000});
  EXPECT_DOUBLE_EQ(open.interval_s, Optimum(model).value);
  EXPECT_FALSE(open.clamped);
}

TEST(Recommend, AJobThatEndsBeforeTheNextCheckpointPaysSkipsIt) {
  const FailureModel model{5, 1440, 10};
  const double next = Optimum(model).value + model.cost_s;
  EXPECT_EQ(RecommendFor(model, {}, next, false).advice, Advice::kEvery);
  EXPECT_EQ(RecommendFor(model, {}, next - 0.001, false).advice, Advice::kSkip);
  const Recommendation limit = RecommendFor(model, {}, 50, true);
  EXPECT_EQ(limit.advice, Advice::kEvery);
  EXPECT_DOUBLE_EQ(limit.interval_s, 45);
  EXPECT_TRUE(limit.clamped);
  // Not even the checkpoint would be done in time.
  EXPECT_EQ(RecommendFor(model, {}, 5, true).advice, Advice::kSkip);
}

TEST(Recommend, WhatIsNoNumberIsNoAdvice) {
  EXPECT_EQ(Recommend({kNan, 1, 1}, {}).error, IntervalError::kNotANumber);
  EXPECT_EQ(Recommend({-1, 1, 1}, {}).error, IntervalError::kNegative);
  EXPECT_EQ(RecommendFor({5, 1440, 10}, {}, kNan, true).error, IntervalError::kNotANumber);
  EXPECT_EQ(Recommend({5, 0, 10}, {}).advice, Advice::kHopeless);
  EXPECT_STREQ(Text(Recommend({5, 0, 10}, {}).advice),
               "failures come too fast for any work to be done");
}

}  // namespace
}  // namespace muster::checkpoint
