#include "cli/scale/scale_fit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cmath>
#include <utility>
#include <vector>

namespace muster::cli {
namespace {

ScalingPoint Point(int ranks, double seconds) {
  return {ranks, seconds, {}};
}

ScalingResult Points(Scaling scaling, const std::vector<std::pair<int, double>>& times) {
  ScalingResult result;
  result.scaling = scaling;
  for (const auto& [ranks, seconds] : times) {
    result.points.push_back(Point(ranks, seconds));
  }
  return result;
}

// The times that a law gives.
ScalingResult Lawful(Scaling scaling, double serial, double first, int sizes) {
  ScalingResult result;
  result.scaling = scaling;
  for (int i = 0; i < sizes; ++i) {
    const int n = 1 << i;
    const double seconds = scaling == Scaling::kStrong ? first * (serial + (1 - serial) / n)
                                                       : first * n / (n - serial * (n - 1));
    result.points.push_back(Point(n, seconds));
  }
  return result;
}

double SquaresOf(const ScalingResult& result, double a, double b) {
  double sum = 0;
  for (const ScalingPoint& point : result.points) {
    sum += std::pow(point.seconds - a - b / point.ranks, 2);
  }
  return sum;
}

TEST(ScaleFitTest, AmdahlsLawIsFoundInTimesThatFollowIt) {
  // s = 0.25: 8 s, of which 2 s are not shared.
  const ScalingResult result = Points(Scaling::kStrong, {{1, 8}, {2, 5}, {4, 3.5}, {8, 2.75}});
  const absl::StatusOr<ScaleFit> fit = FitScaling(result);
  ASSERT_TRUE(fit.ok()) << fit.status();
  EXPECT_NEAR(fit->serial, 0.25, 1e-12);
  EXPECT_NEAR(fit->misses, 0, 1e-12);
}

TEST(ScaleFitTest, GustafsonsLawIsFoundInTimesThatFollowIt) {
  // S(4) = 4 - 0.2 * 3 = 3.4, so T(4) = 4 * 10 / 3.4.
  const ScalingResult result = Points(Scaling::kWeak, {{1, 10}, {2, 20 / 1.8}, {4, 40 / 3.4}});
  const absl::StatusOr<ScaleFit> fit = FitScaling(result);
  ASSERT_TRUE(fit.ok()) << fit.status();
  EXPECT_NEAR(fit->serial, 0.2, 1e-12);
  EXPECT_NEAR(fit->misses, 0, 1e-12);
}

TEST(ScaleFitTest, EveryLawfulCurveGivesItsFractionBackWhateverItsUnit) {
  EXPECT_TRUE(rc::check("any serial fraction", [] {
    const double serial = *rc::gen::inRange(0, 1001) / 1000.0;
    const double first = std::pow(10.0, *rc::gen::inRange(-3, 7));
    const int sizes = *rc::gen::inRange(2, 12);
    const Scaling scaling = *rc::gen::element(Scaling::kStrong, Scaling::kWeak);
    const absl::StatusOr<ScaleFit> fit = FitScaling(Lawful(scaling, serial, first, sizes));
    RC_ASSERT(fit.ok());
    RC_ASSERT(std::abs(fit->serial - serial) < 1e-6);
    RC_ASSERT(fit->misses < 1e-6);
  }));
}

TEST(ScaleFitTest, AnyTimesGiveAFractionFromNothingToAll) {
  EXPECT_TRUE(rc::check("any times", [] {
    ScalingResult result;
    result.scaling = *rc::gen::element(Scaling::kStrong, Scaling::kWeak);
    const int sizes = *rc::gen::inRange(2, 8);
    for (int i = 0; i < sizes; ++i) {
      result.points.push_back(Point(1 << i, *rc::gen::inRange(1, 1000000) / 1000.0));
    }
    const absl::StatusOr<ScaleFit> fit = FitScaling(result);
    RC_ASSERT(fit.ok());
    RC_ASSERT(fit->serial >= 0);
    RC_ASSERT(fit->serial <= 1);
    RC_ASSERT(std::isfinite(fit->misses));
  }));
}

TEST(ScaleFitTest, NoOtherLineThroughStrongTimesHasSmallerSquares) {
  EXPECT_TRUE(rc::check("any times", [] {
    ScalingResult result;
    for (int i = 0; i < 5; ++i) {
      result.points.push_back(Point(1 << i, *rc::gen::inRange(1, 1000) / 10.0));
    }
    const absl::StatusOr<ScaleFit> fit = FitScaling(result);
    RC_ASSERT(fit.ok());
    // The best T(1) for this fraction: the squares are of second degree in it.
    double xt = 0;
    double xx = 0;
    for (const ScalingPoint& point : result.points) {
      const double shape = fit->serial + (1 - fit->serial) / point.ranks;
      xt += shape * point.seconds;
      xx += shape * shape;
    }
    const double first = xt / xx;
    const double best = SquaresOf(result, fit->serial * first, (1 - fit->serial) * first);
    const double a = *rc::gen::inRange(0, 1000) / 10.0;
    const double b = *rc::gen::inRange(0, 1000) / 10.0;
    RC_ASSERT(best <= SquaresOf(result, a, b) + 1e-6);
  }));
}

TEST(ScaleFitTest, WhatGetsSlowerWithEveryRankIsAllSerial) {
  EXPECT_EQ(FitScaling(Points(Scaling::kStrong, {{1, 1}, {2, 2}, {4, 3}}))->serial, 1);
  EXPECT_EQ(FitScaling(Points(Scaling::kWeak, {{1, 1}, {2, 4}, {4, 16}}))->serial, 1);
}

TEST(ScaleFitTest, WhatIsFasterThanItsShareHasNoSerialFraction) {
  EXPECT_EQ(FitScaling(Points(Scaling::kStrong, {{1, 8}, {2, 3}, {4, 1}}))->serial, 0);
  EXPECT_EQ(FitScaling(Points(Scaling::kWeak, {{1, 8}, {2, 7}, {4, 6}}))->serial, 0);
}

TEST(ScaleFitTest, OnePointSaysNothing) {
  const absl::StatusOr<ScaleFit> fit = FitScaling(Points(Scaling::kStrong, {{1, 8}}));
  EXPECT_EQ(fit.status(),
            absl::InvalidArgumentError("too few points to say how it scales: measure two or more"));
}

TEST(KneeTest, IsTheLastPointBeforeTheFirstBelowTheFloor) {
  // Efficiencies 1, 0.8, 0.5, 0.75.
  const ScalingResult result = Points(Scaling::kStrong, {{1, 8}, {2, 5}, {4, 4}, {8, 8.0 / 6}});
  EXPECT_EQ(KneeOf(result, 0.7), 2);
  EXPECT_EQ(KneeOf(result, 0.8), 2);
  EXPECT_EQ(KneeOf(result, 0.9), 1);
  EXPECT_EQ(KneeOf(result, 0.5), 8);
}

TEST(KneeTest, AHigherFloorNeverMovesItUp) {
  EXPECT_TRUE(rc::check("any curve", [] {
    const ScalingResult result = Lawful(Scaling::kStrong, *rc::gen::inRange(0, 100) / 100.0, 5, 8);
    const double low = *rc::gen::inRange(1, 100) / 100.0;
    const double high = low + *rc::gen::inRange(0, 100) / 100.0 * (1 - low);
    RC_ASSERT(KneeOf(result, high) <= KneeOf(result, low));
  }));
}

}  // namespace
}  // namespace muster::cli
