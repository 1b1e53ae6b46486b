#include "cli/picture/scaling_plot.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <utility>

namespace muster::cli {
namespace {

using ::testing::HasSubstr;

ScalingResult Result(Scaling scaling, std::vector<ScalingPoint> points) {
  ScalingResult result;
  result.scaling = scaling;
  result.kernel = "heat2d";
  result.points = std::move(points);
  return result;
}

TEST(ScalingResultTest, StrongScalingComparesTimesOfTheSameWork) {
  const ScalingResult result = Result(Scaling::kStrong, {{1, 8, {}}, {2, 4, {}}, {4, 4, {}}});
  EXPECT_DOUBLE_EQ(result.Speedup(1), 2);
  EXPECT_DOUBLE_EQ(result.Efficiency(1), 1);
  EXPECT_DOUBLE_EQ(result.Speedup(2), 2);
  EXPECT_DOUBLE_EQ(result.Efficiency(2), 0.5);
}

TEST(ScalingResultTest, WeakScalingComparesTimesOfGrowingWork) {
  const ScalingResult result = Result(Scaling::kWeak, {{1, 8, {}}, {4, 10, {}}});
  EXPECT_DOUBLE_EQ(result.Speedup(1), 3.2);
  EXPECT_DOUBLE_EQ(result.Efficiency(1), 0.8);
}

TEST(ScalingResultTest, WhatOnlyMovesBytesIsComparedByBandwidth) {
  for (const Scaling scaling : {Scaling::kStrong, Scaling::kWeak}) {
    const ScalingResult result = Result(scaling, {{2, 4, 1, 100}, {4, 4, 1, 75}});
    EXPECT_DOUBLE_EQ(result.Efficiency(1), 0.75);
    EXPECT_DOUBLE_EQ(result.Speedup(1), 1.5);
  }
}

TEST(ScalingResultTest, TheFirstPointNeedNotBeOneRank) {
  const ScalingResult result = Result(Scaling::kStrong, {{2, 8, {}}, {4, 4, {}}});
  EXPECT_DOUBLE_EQ(result.Efficiency(0), 1);
  EXPECT_DOUBLE_EQ(result.Efficiency(1), 1);
}

TEST(ScalingResultTest, ItPaysAsLongAsHalfOfWhatIsAddedArrives) {
  EXPECT_EQ(Result(Scaling::kStrong, {{1, 8, {}}, {2, 5, {}}, {4, 5, {}}}).PaysUpTo(), 2);
  EXPECT_EQ(Result(Scaling::kStrong, {{1, 8, {}}, {2, 9, {}}}).PaysUpTo(), 1);
  EXPECT_EQ(Result(Scaling::kStrong, {{1, 8, {}}, {2, 4, {}}, {4, 2, {}}}).PaysUpTo(), 4);
}

TEST(ScalingResultTest, PerfectScalingHasAnEfficiencyOfOneEverywhere) {
  EXPECT_TRUE(rc::check("any first time", [] {
    const double seconds = *rc::gen::inRange(1, 1000000) * 1e-3;
    const ScalingResult strong =
        Result(Scaling::kStrong, {{1, seconds, {}}, {3, seconds / 3, {}}, {7, seconds / 7, {}}});
    const ScalingResult weak = Result(Scaling::kWeak, {{1, seconds, {}}, {5, seconds, {}}});
    RC_ASSERT(std::abs(strong.Efficiency(2) - 1) < 1e-12);
    RC_ASSERT(std::abs(weak.Efficiency(1) - 1) < 1e-12);
    RC_ASSERT(strong.PaysUpTo() == 7);
  }));
}

TEST(ScalingPageTest, IsATableWithBarsAndAVerdict) {
  const ScalingResult result = Result(Scaling::kStrong, {{1, 8, 0.0}, {2, 5, 0.125}, {4, 5, {}}});
  Style style;
  style.utf8 = false;
  EXPECT_EQ(ScalingPage(result, style),
            "heat2d, strong scaling\n"
            "RANKS   SECONDS  SPEEDUP  EFFICIENCY  COMM\n"
            "    1  8.000000     1.00        1.00   0 %  ####################\n"
            "    2  5.000000     1.60        0.80  12 %  ################....\n"
            "    4  5.000000     1.60        0.40     -  ########............\n"
            "It stops paying after 2: beyond, less than half of what is added arrives.\n");
}

TEST(ScalingPageTest, TellsWhenTheTimesAreNotToBeReliedUpon) {
  const ScalingResult steady = Result(Scaling::kStrong, {{1, 8, {}, 0, 7.5}});
  EXPECT_THAT(ScalingPage(steady, Style()), ::testing::Not(HasSubstr("relied upon")));
  const ScalingResult shaken = Result(Scaling::kStrong, {{1, 8, {}, 0, 7.5}, {2, 8, {}, 0, 3.75}});
  EXPECT_THAT(ScalingPage(shaken, Style()),
              HasSubstr("the best repeat of 2 took 3.750000 s, the median 8.000000 s"));
}

TEST(ScalingPictureTest, IsADocumentThatNamesEachPoint) {
  const std::string picture =
      ScalingPicture(Result(Scaling::kWeak, {{1, 8, {}}, {2, 9, {}}, {8, 11, {}}}));
  EXPECT_THAT(picture, HasSubstr("<svg"));
  EXPECT_THAT(picture, HasSubstr("heat2d, weak scaling"));
  EXPECT_THAT(picture, HasSubstr("8 ranks: 11.000000 s, efficiency 0.73"));
}

}  // namespace
}  // namespace muster::cli
