#include "cli/service/terms/reported_load.h"

#include <gtest/gtest.h>

#include <chrono>
#include <limits>

namespace muster::cli {
namespace {

using std::chrono::seconds;

Time At(int second) {
  return Time(seconds(second));
}

JobCurve Reports() {
  ReportedCurve load{.name = "load", .last = 9, .time = At(39), .points = {}};
  load.points = {{At(0), seconds(10), 100, 100, 100},
                 {At(10), seconds(10), 4, 1, 5},
                 {At(30), seconds(10), 8, 1, 9}};
  const ReportedCurve loss{
      .name = "loss", .last = 1, .time = At(5), .points = {{At(30), seconds(10), 1, 1, 1}}};
  return {.job = JobId(7), .label = "7_0", .points = {}, .reported = {load, loss}};
}

TEST(ReportedLoadTest, ThePointsOfTheTimeAreAveraged) {
  EXPECT_DOUBLE_EQ(ReportedLoad(Reports(), "load", At(10), At(40)).value(), 6);
  EXPECT_DOUBLE_EQ(ReportedLoad(Reports(), "load", At(15), At(40)).value(), (4 * 5 + 8 * 10) / 15.0)
      << "each for as much of it as lies within";
}

TEST(ReportedLoadTest, WhoSaidNothingHasNoLoad) {
  EXPECT_FALSE(ReportedLoad(Reports(), "load", At(20), At(30)).has_value());
  EXPECT_FALSE(ReportedLoad(Reports(), "queue", At(0), At(40)).has_value());
  EXPECT_FALSE(ReportedLoad(JobCurve(), "load", At(0), At(40)).has_value());
}

TEST(ReportedLoadTest, WhatIsNoNumberDoesNotCount) {
  JobCurve curve = Reports();
  curve.reported[0].points[1].last = std::numeric_limits<double>::quiet_NaN();
  EXPECT_DOUBLE_EQ(ReportedLoad(curve, "load", At(10), At(40)).value(), 8);
}

}  // namespace
}  // namespace muster::cli
