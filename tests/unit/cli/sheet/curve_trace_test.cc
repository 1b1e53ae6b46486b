#include "cli/sheet/timeline/curve_trace.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

namespace muster::cli {
namespace {

TEST(CurveTraceTest, EachPointIsACounterOfItsJob) {
  JobCurve curve;
  curve.job = JobId(7);
  curve.label = "7";
  CurvePoint point;
  point.start = Time(Duration(5000));
  point.cpus = 1.5;
  curve.points.push_back(point);
  const Time start(Duration(9000));
  curve.reported.push_back(
      {"loss",
       NAN,
       start,
       {{start, Duration(10), 0.25, 0.2, 0.3}, {start, Duration(10), NAN, 0, 0}}});
  const nlohmann::json trace = nlohmann::json::parse(CurveTrace({curve}));
  const nlohmann::json& events = trace.at("traceEvents");
  ASSERT_EQ(events.size(), 6U) << "a name, four counters, and one number";
  EXPECT_EQ(events[0].at("args").at("name"), "job 7");
  EXPECT_EQ(events[1].at("ts"), 5'000'000);
  EXPECT_EQ(events[1].at("args").at("value"), 1.5);
  EXPECT_EQ(events[5].at("name"), "loss");
  EXPECT_EQ(events[5].at("pid"), 7);
}

TEST(CurveTraceTest, WhatNobodyCouldTellIsNoCounter) {
  JobCurve curve;
  CurvePoint point;
  point.start = Time(Duration(5000));
  point.written = 0;
  curve.points.push_back(point);
  point.watts = 350;
  curve.points.push_back(point);
  const nlohmann::json trace = nlohmann::json::parse(CurveTrace({curve}));
  const nlohmann::json& events = trace.at("traceEvents");
  ASSERT_EQ(events.size(), 12U);
  EXPECT_EQ(events[5].at("name"), "bytes written a second");
  EXPECT_EQ(events[5].at("args").at("value"), 0.0);
  EXPECT_EQ(events[10].at("name"), "watts");
  EXPECT_EQ(events[10].at("args").at("value"), 350.0);
}

}  // namespace
}  // namespace muster::cli
