#include "daemon/agents/usage_curves.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>

namespace muster::daemon {
namespace {

using std::chrono::hours;
using std::chrono::seconds;

Job Running(std::uint64_t id, Time started) {
  JobSpec spec;
  spec.user.name = "ada";
  Job job;
  job.id = job.submission = JobId(id);
  job.spec = std::make_shared<const JobSpec>(spec);
  job.attempt.emplace();
  job.attempt->number = AttemptNumber(1);
  job.attempt->started = started;
  return job;
}

Usage Used(seconds cpu, std::uint64_t mib = 0, seconds gpu = seconds(0)) {
  Usage usage;
  usage.user_cpu = cpu;
  usage.group_memory = Bytes(mib << 20);
  usage.gpu_busy = gpu;
  return usage;
}

double CpuSeconds(const JobCurve& curve) {
  double sum = 0;
  for (const CurvePoint& point : curve.points) {
    sum += point.cpus * std::chrono::duration<double>(point.span).count();
  }
  return sum;
}

const Time kStart(hours(500'000));

TEST(UsageCurvesTest, WhatWasUsedIsSpreadOverItsTime) {
  UsageCurves curves;
  const Job job = Running(7, kStart);
  curves.Add(job, NodeId(1), kStart + seconds(10), Used(seconds(20), 100));
  curves.Add(job, NodeId(1), kStart + seconds(30), Used(seconds(60), 200, seconds(20)));
  const std::vector<JobCurve> found = curves.Of(JobId(7), {});
  ASSERT_EQ(found.size(), 1U);
  ASSERT_EQ(found[0].points.size(), 3U);
  for (const CurvePoint& point : found[0].points) {
    EXPECT_NEAR(point.cpus, 2.0, 0.001);
    EXPECT_EQ(point.span, seconds(10));
  }
  EXPECT_NEAR(found[0].points[1].gpus, 1.0, 0.001);
  EXPECT_EQ(found[0].points[2].memory, Bytes(std::uint64_t{200} << 20));
}

TEST(UsageCurvesTest, PowerThatNoNodeMetersIsNotZeroWatts) {
  UsageCurves curves;
  const Job job = Running(7, kStart);
  Usage usage = Used(seconds(10));
  curves.Add(job, NodeId(1), kStart + seconds(10), usage);
  usage.gpu_energy_mj = 7'000'000;
  curves.Add(job, NodeId(1), kStart + seconds(20), usage);
  curves.Add(job, NodeId(1), kStart + seconds(30), usage);
  const JobCurve curve = curves.Of(JobId(7), {}).at(0);
  ASSERT_EQ(curve.points.size(), 3U);
  EXPECT_EQ(curve.points[0].watts, std::nullopt);
  EXPECT_NEAR(curve.points[1].watts.value(), 700, 0.1);
  EXPECT_EQ(curve.points[2].watts, 0.0) << "it is metered, and took nothing more";
}

TEST(UsageCurvesTest, WhatNobodyCouldTellIsNoPartOfACurve) {
  UsageCurves curves;
  const Job job = Running(7, kStart);
  Usage usage = Used(seconds(10));
  curves.Add(job, NodeId(1), kStart + seconds(10), usage);
  usage.read_bytes = Bytes(std::uint64_t{30} << 20);
  usage.io_blocked = seconds(5);
  usage.gpu_counted = seconds(20);  // of two GPUs
  usage.sm_active = seconds(15);
  usage.nvlink_bytes = Bytes(std::uint64_t{40} << 20);
  usage.net_sent = Bytes(std::uint64_t{20} << 20);
  usage.fabric_sent = Bytes(std::uint64_t{40} << 20);
  usage.net_blocked = seconds(4);
  curves.Add(job, NodeId(1), kStart + seconds(20), usage);
  usage.read_bytes = Bytes(std::uint64_t{30} << 20);
  curves.Add(job, NodeId(1), kStart + seconds(30), usage);
  const JobCurve curve = curves.Of(JobId(7), {}).at(0);
  ASSERT_EQ(curve.points.size(), 3U);
  EXPECT_EQ(curve.points[0].read, std::nullopt);
  EXPECT_EQ(curve.points[0].sm_active, std::nullopt);
  EXPECT_NEAR(curve.points[1].read.value(), 3.0 * (1 << 20), 1);
  EXPECT_NEAR(curve.points[1].io_blocked.value(), 0.5, 0.001);
  EXPECT_NEAR(curve.points[1].sm_active.value(), 0.75, 0.001);
  EXPECT_NEAR(curve.points[1].link.value(), 2.0 * (1 << 20), 1);
  EXPECT_EQ(curve.points[0].sent, std::nullopt);
  EXPECT_NEAR(curve.points[1].sent.value(), 6.0 * (1 << 20), 1);
  EXPECT_EQ(curve.points[1].received, std::nullopt);
  EXPECT_NEAR(curve.points[1].net_blocked.value(), 0.4, 0.001);
  EXPECT_EQ(curve.points[1].tensor_active, std::nullopt);
  EXPECT_EQ(curve.points[2].read, 0.0) << "it read nothing, and that is known";
  EXPECT_EQ(curve.points[2].sm_active, std::nullopt) << "in a time that no counter covers";
}

TEST(UsageCurvesTest, BytesAddUpExactlyHoweverManyThereWereBefore) {
  UsageCurves curves;
  const Job job = Running(7, kStart);
  Usage usage = Used(seconds(0));
  usage.read_bytes = Bytes(std::uint64_t{1} << 60);
  curves.Add(job, NodeId(1), kStart + seconds(10), usage);
  *usage.read_bytes += Bytes(10 << 20);
  curves.Add(job, NodeId(1), kStart + seconds(20), usage);
  EXPECT_NEAR(curves.Of(JobId(7), {}).at(0).points.at(1).read.value(), 1 << 20, 1);
}

TEST(UsageCurvesTest, NodesAreAddedUp) {
  UsageCurves curves;
  const Job job = Running(7, kStart);
  for (std::uint32_t node = 1; node <= 3; ++node) {
    curves.Add(job, NodeId(node), kStart + seconds(10), Used(seconds(10), 50));
  }
  const JobCurve curve = curves.Of(JobId(7), {}).at(0);
  EXPECT_NEAR(curve.points.at(0).cpus, 3.0, 0.001);
  EXPECT_EQ(curve.points.at(0).memory, Bytes(std::uint64_t{150} << 20));
}

TEST(UsageCurvesTest, OldPointsGetLongerAndNothingIsCountedTwice) {
  UsageCurves curves;
  const Job job = Running(7, kStart);
  seconds used(0);
  for (seconds at(10); at <= hours(12); at += seconds(10)) {
    used += seconds(10);
    curves.Add(job, NodeId(1), kStart + at, Used(used));
  }
  const JobCurve curve = curves.Of(JobId(7), {}).at(0);
  EXPECT_NEAR(CpuSeconds(curve), 12 * 3600.0, 600);
  EXPECT_EQ(curve.points.front().span, seconds(600));
  EXPECT_EQ(curve.points.back().span, seconds(10));
  for (std::size_t i = 1; i < curve.points.size(); ++i) {
    EXPECT_LE(curve.points[i - 1].start + curve.points[i - 1].span, curve.points[i].start);
  }
  EXPECT_LE(curves.points(), UsageCurves::kPointsOfJob);
}

TEST(UsageCurvesTest, TheFirstSampleOfAControllerThatStartedLateIsSpread) {
  UsageCurves curves;
  curves.Add(Running(7, kStart), NodeId(1), kStart + hours(24 * 30), Used(hours(24 * 30)));
  EXPECT_LE(curves.points(), UsageCurves::kPointsOfJob);
  EXPECT_NEAR(curves.Of(JobId(7), {}).at(0).points.back().cpus, 1.0, 0.01);
}

TEST(UsageCurvesTest, AnotherAttemptBeginsAtNothing) {
  UsageCurves curves;
  Job job = Running(7, kStart);
  curves.Add(job, NodeId(1), kStart + seconds(10), Used(seconds(100)));
  job.attempt->number = AttemptNumber(2);
  job.attempt->started = kStart + seconds(20);
  curves.Add(job, NodeId(1), kStart + seconds(30), Used(seconds(5)));
  EXPECT_NEAR(CpuSeconds(curves.Of(JobId(7), {}).at(0)), 105, 0.1);
}

TEST(UsageCurvesTest, ClocksThatGoBackAndCountersThatFallCostNothing) {
  UsageCurves curves;
  const Job job = Running(7, kStart);
  curves.Add(job, NodeId(1), kStart + seconds(20), Used(seconds(10)));
  curves.Add(job, NodeId(1), kStart + seconds(10), Used(seconds(99)));
  curves.Add(job, NodeId(1), kStart + seconds(30), Used(seconds(1)));
  EXPECT_NEAR(CpuSeconds(curves.Of(JobId(7), {}).at(0)), 10, 0.1);
  curves.Add(Running(8, kStart), NodeId(1), kStart - seconds(5), Used(seconds(1)));
  EXPECT_TRUE(curves.Of(JobId(8), {}).at(0).points.empty());
}

TEST(UsageCurvesTest, ForMoreThanThereIsRoomForTheStalestGoes) {
  UsageCurves curves(30);
  for (std::uint64_t id = 1; id <= 20; ++id) {
    curves.Add(Running(id, kStart), NodeId(1), kStart + seconds(10), Used(seconds(1)));
  }
  EXPECT_LE(curves.points(), 30U);
  EXPECT_TRUE(curves.Of(JobId(1), {}).empty());
  EXPECT_FALSE(curves.Of(JobId(20), {}).empty());
}

TEST(UsageCurvesTest, ElementsAreFoundByTheirArray) {
  UsageCurves curves;
  for (std::uint32_t i = 0; i < 3; ++i) {
    Job job = Running(10 + i, kStart);
    job.submission = JobId(10);
    job.array_index = i + 1;
    curves.Add(job, NodeId(1), kStart + seconds(10), Used(seconds(1)));
  }
  curves.Add(Running(13, kStart), NodeId(1), kStart + seconds(10), Used(seconds(1)));
  EXPECT_EQ(curves.Of(JobId(10), {}).size(), 3U);
  ASSERT_EQ(curves.Of(JobId(10), {2}).size(), 1U);
  EXPECT_EQ(curves.Of(JobId(10), {2})[0].label, "10_2");
}

}  // namespace
}  // namespace muster::daemon
