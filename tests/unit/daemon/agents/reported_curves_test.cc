#include "daemon/agents/reported_curves.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <memory>

namespace muster::daemon {
namespace {

using std::chrono::seconds;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const Time kReportedStart(std::chrono::hours(500'000));

Job JobOf(std::uint64_t id, const std::string& user = "ada") {
  auto spec = std::make_shared<JobSpec>();
  spec->user.name = user;
  Job job;
  job.id = JobId(id);
  job.spec = spec;
  return job;
}

bool Anybody(const std::string& /*user*/) {
  return true;
}

TEST(ReportedCurvesTest, APointHasTheLastAndTheBoundsOfItsSpan) {
  ReportedCurves curves;
  const Job job = JobOf(7);
  double value = 5;
  for (int second = 0; second < 20; second += 5) {
    curves.Add(job, {{"loss", value, kReportedStart + seconds(second), 1}});
    value -= 1;
  }
  const std::vector<ReportedCurve> shown = curves.Of(JobId(7), Anybody);
  ASSERT_THAT(shown, SizeIs(1));
  EXPECT_EQ(shown[0].name, "loss");
  EXPECT_EQ(shown[0].last, 2);
  ASSERT_THAT(shown[0].points, SizeIs(2));
  EXPECT_EQ(shown[0].points[0].last, 4);
  EXPECT_EQ(shown[0].points[0].high, 5);
  EXPECT_EQ(shown[0].points[0].low, 4);
  EXPECT_EQ(shown[0].points[1].start, kReportedStart + seconds(10));
}

TEST(ReportedCurvesTest, WhatIsNotNewAddsNothingAndWhatIsNoNumberNoPoint) {
  ReportedCurves curves;
  const Job job = JobOf(7);
  curves.Add(job, {{"loss", 5, kReportedStart, 1}});
  curves.Add(job, {{"loss", 6, kReportedStart, 1}});
  EXPECT_EQ(curves.Of(JobId(7), Anybody)[0].last, 5);
  curves.Add(job, {{"loss", NAN, kReportedStart + seconds(60), 2}});
  const std::vector<ReportedCurve> shown = curves.Of(JobId(7), Anybody);
  EXPECT_TRUE(std::isnan(shown[0].last));
  EXPECT_THAT(shown[0].points, SizeIs(1));
}

TEST(ReportedCurvesTest, OnlyThoseWhoMaySeeTheJobSeeThem) {
  ReportedCurves curves;
  curves.Add(JobOf(7, "ada"), {{"loss", 5, kReportedStart, 1}});
  const auto bob = [](const std::string& user) { return user == "bob"; };
  EXPECT_THAT(curves.Of(JobId(7), bob), IsEmpty());
}

TEST(ReportedCurvesTest, NamesAndPointsAreBounded) {
  ReportedCurves curves(/*points_max=*/100);
  for (std::uint64_t id = 1; id <= 3; ++id) {
    for (int i = 0; i < 40; ++i) {
      std::vector<SaidValue> said;
      for (int name = 0; name < 40; ++name) {
        said.push_back({"v" + std::to_string(name), 1, kReportedStart + seconds(i), 1});
      }
      curves.Add(JobOf(id), said);
    }
  }
  EXPECT_THAT(curves.Of(JobId(3), Anybody), SizeIs(ReportedCurves::kNamesMax));
  EXPECT_THAT(curves.Of(JobId(1), Anybody), IsEmpty()) << "it said nothing for longest";
}

}  // namespace
}  // namespace muster::daemon
