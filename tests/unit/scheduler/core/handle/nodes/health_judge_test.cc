#include "scheduler/core/handle/nodes/health_judge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scheduler/core/state/tables/failure_rate.h"

namespace muster::core {
namespace {

HealthFigure Bandwidth(std::uint64_t value, std::uint64_t roof = 0) {
  return {"memory bandwidth", "GB/s", HealthSense::kHigher, value, roof};
}

// A class whose median is 88 GB/s and whose median absolute deviation is 1.2.
std::vector<std::uint64_t> Class() {
  return {86'000, 86'800, 86'800, 87'400, 88'000, 88'600, 89'200, 89'200, 90'000};
}

TEST(HealthJudge, AFigureIsComparedWithMedianAndDeviationOfItsClass) {
  const HealthVerdict verdict = Judge(Bandwidth(41'200), Class(), HealthPolicy());
  EXPECT_EQ(verdict.median, 88'000U);
  EXPECT_EQ(verdict.spread, 1'779U) << "1.2 times 1.4826";
  EXPECT_EQ(verdict.samples, 9U);
  EXPECT_EQ(verdict.status, HealthStatus::kSuspect);
  EXPECT_EQ(TextOf({verdict}, HealthStatus::kSuspect),
            "memory bandwidth 41.2 GB/s, class median 88 GB/s (MAD 1.19)");
}

TEST(HealthJudge, AnEvenClassDoesNotAlarmAboutNothing) {
  const std::vector<std::uint64_t> even(16, 88'000);
  EXPECT_EQ(Judge(Bandwidth(80'000), even, HealthPolicy()).status, HealthStatus::kGood)
      << "within a tenth of the median";
  EXPECT_EQ(Judge(Bandwidth(79'000), even, HealthPolicy()).status, HealthStatus::kSuspect);
}

TEST(HealthJudge, AnUnevenClassHasItsOwnIdeaOfSlow) {
  const std::vector<std::uint64_t> uneven = {50'000, 60'000,  70'000,  80'000,
                                             90'000, 100'000, 110'000, 120'000};
  EXPECT_EQ(Judge(Bandwidth(30'000), uneven, HealthPolicy()).status, HealthStatus::kGood);
}

TEST(HealthJudge, LatenciesAreSlowWhenTheyAreHigh) {
  const HealthFigure high{"memory latency", "ns", HealthSense::kLower, 140'000, 0};
  const HealthFigure low{"memory latency", "ns", HealthSense::kLower, 60'000, 0};
  const std::vector<std::uint64_t> pool(8, 100'000);
  EXPECT_EQ(Judge(high, pool, HealthPolicy()).status, HealthStatus::kSuspect);
  EXPECT_EQ(Judge(low, pool, HealthPolicy()).status, HealthStatus::kGood);
}

TEST(HealthJudge, AYoungClassIsNotJudged) {
  const std::vector<std::uint64_t> few(7, 88'000);
  EXPECT_EQ(Judge(Bandwidth(10'000, 90'000), few, HealthPolicy()).status, HealthStatus::kUnjudged);
}

TEST(HealthJudge, ADefectNeedsNoClass) {
  const HealthFigure errors{"GPU 3 uncorrected memory errors", "", HealthSense::kNever, 2'000, 0};
  const HealthVerdict verdict = Judge(errors, {}, HealthPolicy());
  EXPECT_EQ(verdict.status, HealthStatus::kFailed);
  EXPECT_EQ(TextOf({verdict}, HealthStatus::kFailed),
            "GPU 3 uncorrected memory errors 2, must be 0");
}

TEST(HealthJudge, ACheckIsAsBadAsItsWorstComponentAndUnjudgedUntilAllAreJudged) {
  HealthVerdict good;
  good.status = HealthStatus::kGood;
  HealthVerdict suspect;
  suspect.status = HealthStatus::kSuspect;
  EXPECT_EQ(WorstOf({good, HealthVerdict()}), HealthStatus::kUnjudged);
  EXPECT_EQ(WorstOf({good, good}), HealthStatus::kGood);
  EXPECT_EQ(WorstOf({good, suspect, HealthVerdict()}), HealthStatus::kSuspect);
}

TEST(HealthJudge, AmountsAreReadWithThreeDigits) {
  EXPECT_EQ(Thousandths(0), "0");
  EXPECT_EQ(Thousandths(5), "0.005");
  EXPECT_EQ(Thousandths(1'250), "1.25");
  EXPECT_EQ(Thousandths(41'234), "41.2");
  EXPECT_EQ(Thousandths(4'321'999), "4321");
}

FailureTally Tally(std::uint64_t failures, std::int64_t hours) {
  FailureTally tally;
  tally.failures = failures * 1'000'000;
  tally.exposure = std::chrono::hours(hours);
  return tally;
}

TEST(FailureRate, AFewFailuresProveNothingAndManyDo) {
  const std::vector<FailureTally> others(99, Tally(0, 100));
  EXPECT_LT(SickPermille(Tally(3, 100), others), kSickPermille);
  EXPECT_GE(SickPermille(Tally(7, 100), others), kSickPermille);
}

TEST(FailureRate, ANodeIsHeldAgainstItsClassAndNotAgainstAnIdeal) {
  // One failure in 200 hours everywhere: forty in 8,000 hours are what is to be expected.
  const std::vector<FailureTally> others(99, Tally(40, 8'000));
  EXPECT_LT(SickPermille(Tally(40, 8'000), others), 10U);
  EXPECT_GE(SickPermille(Tally(170, 8'000), others), kSickPermille);
}

TEST(FailureRate, PosteriorsAreThoseOfTheReference) {
  // Prior rate 1/50,000 h; the chance of more than three times that with no failure seen is e^-3.
  EXPECT_EQ(SickPermille(FailureTally(), {}), 49U);
  // Poisson of mean 3 is at most 6 with probability 0.9665.
  EXPECT_EQ(SickPermille(Tally(6, 0), {}), 966U);
}

TEST(FailureRate, FailuresOfUsersAndThoseOfOneMomentDoNotAddUp) {
  FailureTally tally;
  const Time start{std::chrono::hours(1000)};
  NoteEnd(tally, EndCause::kExited, std::chrono::hours(1), start);
  NoteEnd(tally, EndCause::kLaunchFailed, Duration(0), start);
  EXPECT_EQ(tally.failures, 0U);
  EXPECT_EQ(tally.exposure, std::chrono::hours(1));
  for (int i = 0; i < 50; ++i) {
    NoteEnd(tally, EndCause::kNodeRebooted, Duration(0), start + std::chrono::seconds(i));
  }
  EXPECT_EQ(tally.failures, 1'000'000U) << "one restart ends many jobs";
  NoteEnd(tally, EndCause::kNodeRebooted, Duration(0), start + std::chrono::minutes(30));
  EXPECT_EQ(tally.failures, 2'000'000U);
}

TEST(FailureRate, OnlyWhatLeavesNothingOnTheNodeIsALoss) {
  FailureTally tally;
  Time now{std::chrono::hours(1000)};
  for (const EndCause cause : {EndCause::kLostSupervisor, EndCause::kExited,
                               EndCause::kNodeRebooted, EndCause::kNodeLostRecord}) {
    NoteEnd(tally, cause, Duration(0), now);
    now += std::chrono::hours(1);
  }
  EXPECT_EQ(tally.failures, 3'000'000U);
  EXPECT_EQ(tally.losses, 2'000'000U);
  Fade(tally, now + std::chrono::hours(24 * 34));
  EXPECT_NEAR(static_cast<double>(tally.losses), 1'006'000, 4'000) << "0.98 to the 34th";
}

TEST(FailureRate, LossesHaveADirichletShareOfTheRate) {
  EXPECT_DOUBLE_EQ(FailuresPerHour(FailureTally()), 1 / 50'000.0);
  EXPECT_DOUBLE_EQ(LossesPerHour(FailureTally()), 0.5 / 50'000);
  FailureTally tally = Tally(3, 100'000);  // of the reference: Gamma(4, 150,000)
  tally.losses = 2'000'000;
  EXPECT_NEAR(FailuresPerHour(tally), 2.6667e-5, 5e-10);
  EXPECT_NEAR(LossesPerHour(tally), 2.6667e-5 * 2.5 / 4, 5e-10);
  tally.losses = 0;
  EXPECT_NEAR(LossesPerHour(tally), 0.5 / 150'000, 1e-12);
}

TEST(FailureRate, WhatIsLongAgoFades) {
  FailureTally tally;
  const Time start{std::chrono::hours(1000)};
  NoteEnd(tally, EndCause::kLostSupervisor, std::chrono::hours(10), start);
  Fade(tally, start + std::chrono::hours(23));
  EXPECT_EQ(tally.failures, 1'000'000U);
  Fade(tally, start + std::chrono::hours(24 * 34 + 1));
  EXPECT_NEAR(static_cast<double>(tally.failures), 503'000, 2'000) << "0.98 to the 34th";
}

}  // namespace
}  // namespace muster::core
