// When waiting jobs will start, over many futures, and how that held.

#include "scheduler/simulator/forecast/start_forecast.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "scheduler/simulator/forecast/forecast_calibration.h"

namespace muster::sim {
namespace {

constexpr std::int64_t kAnn = 1;
constexpr std::int64_t kBob = 2;

// A machine of 4 that ann's job has for itself since 100 s, and one of bob's that waits for it.
ForecastState OneRunsOneWaits() {
  return {.processors = 4,
          .now = 200,
          .running = {{.processors = 4, .submit = 0, .start = 100, .limit = 1000, .user = kAnn}},
          .waiting = {{.processors = 4, .submit = 150, .limit = 500, .user = kBob}}};
}

TEST(StartForecast, WithoutAPastEverybodyTakesAllOfTheLimit) {
  const auto forecasts = ForecastStarts(OneRunsOneWaits(), {}, LimitUse(), {});
  ASSERT_EQ(forecasts.size(), 1U);
  EXPECT_EQ(forecasts[0].p50, 1100);
  EXPECT_EQ(forecasts[0].p90, 1100);
  EXPECT_EQ(forecasts[0].if_limits, 1100);
}

TEST(StartForecast, WhoAlwaysUsesHalfIsExpectedToDoSoAgain) {
  LimitUse use;
  for (int i = 0; i < 10; ++i) {
    use.Add(kAnn, 50, 100);
    use.Add(kBob, 100, 100);
  }
  const auto forecasts = ForecastStarts(OneRunsOneWaits(), {}, use, {});
  EXPECT_EQ(forecasts[0].p50, 600);
  EXPECT_EQ(forecasts[0].p90, 600);
  EXPECT_EQ(forecasts[0].if_limits, 1100);
}

TEST(StartForecast, WhatRunsAlreadyIsComparedWithWhatRanAsLong) {
  LimitUse use;
  for (int i = 0; i < 10; ++i) {
    use.Add(kAnn, 5, 100);  // over before: says nothing of a job that runs longer
    use.Add(kAnn, 80, 100);
  }
  EXPECT_EQ(ForecastStarts(OneRunsOneWaits(), {}, use, {})[0].p50, 900);
}

TEST(StartForecast, AStrangerIsTakenForAnybody) {
  LimitUse use;
  for (int i = 0; i < 10; ++i) {
    use.Add(kBob, 30, 100);
  }
  EXPECT_EQ(ForecastStarts(OneRunsOneWaits(), {}, use, {})[0].p50, 400);
}

TEST(StartForecast, QuantilesAreOrderedBoundedAndTheSameForTheSameSeed) {
  EXPECT_TRUE(rc::check([] {
    ForecastState state{.processors = 8, .now = 1000, .running = {}, .waiting = {}};
    LimitUse use;
    const auto number = [](Tick least, Tick most) {
      return *rc::gen::inRange<Tick>(least, most + 1);
    };
    std::int64_t free = state.processors;
    const Tick runs = number(0, 4);
    for (Tick i = 0; i < runs; ++i) {
      const std::int64_t processors = number(1, 2);
      free -= processors;
      state.running.push_back({.processors = processors,
                               .submit = 0,
                               .start = 900 + i,
                               .limit = number(200, 2000),
                               .user = number(0, 2)});
    }
    const Tick waits = number(1, 8);
    for (Tick i = 0; i < waits; ++i) {
      state.waiting.push_back({.processors = number(1, 8),
                               .submit = 950,
                               .limit = number(1, 2000),
                               .user = number(0, 2)});
    }
    for (int i = 0; i < 30; ++i) {
      use.Add(number(0, 2), number(1, 100), 100);
    }
    FlatPolicy policy;
    policy.backfill = *rc::gen::element(Backfill::kNone, Backfill::kEasy, Backfill::kConservative);
    const ForecastOptions options{.futures = 20, .seed = 5};
    const auto forecasts = ForecastStarts(state, policy, use, options);
    const auto again = ForecastStarts(state, policy, use, options);
    RC_ASSERT(forecasts.size() == state.waiting.size());
    for (std::size_t i = 0; i < forecasts.size(); ++i) {
      RC_ASSERT(forecasts[i].p50 >= state.now);
      RC_ASSERT(forecasts[i].p50 <= forecasts[i].p90);
      RC_ASSERT(forecasts[i].p90 == again[i].p90);
    }
    // The first in the queue waits for running jobs alone: none of these goes beyond its limit.
    RC_ASSERT(forecasts[0].p90 <= forecasts[0].if_limits);
    RC_ASSERT((state.waiting[0].processors > free || forecasts[0].p90 == state.now));
  }));
}

TEST(StartForecast, JobsOfOneSeriesRunEquallyLongInOneFuture) {
  LimitUse use;
  for (int i = 0; i < 50; ++i) {
    use.Add(kAnn, 10, 100);
    use.Add(kAnn, 90, 100);
  }
  ForecastState state{.processors = 1, .now = 0, .running = {}, .waiting = {}};
  for (int i = 0; i < 11; ++i) {
    state.waiting.push_back({.processors = 1, .limit = 100, .user = kAnn});
  }
  const StartQuantiles last = ForecastStarts(state, {}, use, {.futures = 400, .seed = 2}).back();
  EXPECT_EQ(last.p90, 900) << "all ten before it are long, in half of the futures";
  EXPECT_TRUE(last.p50 == 100 || last.p50 == 900);
}

TEST(LimitUse, OwnJobsOfSuchALimitGoBeforeAnybodysAndTheseBeforeOwnOfOtherLimits) {
  RandomSequence random(1);
  LimitUse use;
  for (int i = 0; i < 5; ++i) {
    use.Add(kAnn, 20, 100);
  }
  EXPECT_EQ(use.Draw(kAnn, 0, 10'000, &random), 2000) << "nobody had such a limit: her own";
  for (int i = 0; i < 5; ++i) {
    use.Add(kBob, 9000, 10'000);
  }
  EXPECT_EQ(use.Draw(kAnn, 0, 10'000, &random), 9000) << "bob's were as long";
  EXPECT_EQ(use.Draw(kAnn, 0, 200, &random), 40);
  EXPECT_EQ(use.Draw(-1, 0, 100, &random), 20) << "of nobody known: anybody's of such a limit";
}

TEST(LimitUse, DrawsWhatWasSeenAndForgetsTheOldest) {
  LimitUse use;
  for (std::size_t i = 0; i < LimitUse::kRemembered; ++i) {
    use.Add(kAnn, 1, 100);
  }
  for (std::size_t i = 0; i < LimitUse::kRemembered; ++i) {
    use.Add(kAnn, 70, 100);
  }
  RandomSequence random(1);
  for (int i = 0; i < 50; ++i) {
    EXPECT_EQ(use.Draw(kAnn, 0, 1000, &random), 700);
  }
  EXPECT_EQ(use.Draw(kAnn, 999, 1000, &random), 1000) << "nobody ran so long: the limit";
}

// Jobs one after the other, each of the whole machine, that use from 10 to 90 % of their limits:
// a job that waits for the one in front of it starts when that ends, and the past tells how often.
TEST(Calibration, APastThatRepeatsItselfGivesPromisesThatHoldAsOftenAsTheySay) {
  RandomSequence random(3);
  std::vector<PastJob> jobs;
  Tick free_at = 0;
  for (std::int64_t id = 0; id < 2000; ++id) {
    PastJob job{.id = id, .submit = id * 1000, .processors = 4, .limit = 1400, .user = kAnn};
    job.start = std::max(job.submit, free_at);
    job.end = job.start + static_cast<Tick>(random.Below(1120)) + 141;
    free_at = job.end;
    jobs.push_back(job);
  }
  const Calibration calibration = CalibrateForecasts(jobs, 4, {}, 400, {});
  ASSERT_EQ(calibration.forecast, 400U);
  EXPECT_GT(calibration.waited, 400U);
  const auto share = [&](const PromiseRecord& record) {
    return static_cast<double>(record.held) / static_cast<double>(calibration.forecast);
  };
  EXPECT_NEAR(share(calibration.p50), 0.5, 0.1);
  EXPECT_NEAR(share(calibration.p90), 0.9, 0.06);
  EXPECT_EQ(calibration.if_limits.held, 400U) << "nobody runs beyond the limit";
  EXPECT_LT(calibration.p50.error, calibration.if_limits.error);
}

TEST(Calibration, WithoutWaitsThereIsNothingToPromise) {
  const Calibration calibration =
      CalibrateForecasts({{.id = 1, .end = 10, .processors = 1, .limit = 20}}, 4, {}, 10, {});
  EXPECT_EQ(calibration.waited, 0U);
  EXPECT_EQ(calibration.forecast, 0U);
  EXPECT_EQ(calibration.p50.error, 0);
}

}  // namespace
}  // namespace muster::sim
