#include "scheduler/core/prompt/run_time_estimates.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <limits>

#include "tests/unit/scheduler/core/many_cases.h"

namespace muster::core {
namespace {

constexpr JobLikeness kJob{.user = 7, .limit = 3600, .size = 4};

void Learn(RunTimeEstimates& estimates, const JobLikeness& job, std::int64_t run_time) {
  estimates.Observe(job, estimates.Estimate(job), run_time);
}

TEST(RunTimeEstimates, WhoIsNotKnownIsTakenAtHisWord) {
  RunTimeEstimates estimates;
  EXPECT_EQ(estimates.Estimate(kJob).used, 3600);
  EXPECT_EQ(estimates.Estimate({.user = -1, .limit = 60, .size = 1}).used, 60);
}

TEST(RunTimeEstimates, AreAQuantileThatOneOutlierDoesNotMove) {
  RunTimeEstimates estimates;
  for (int i = 0; i < 9; ++i) {
    Learn(estimates, kJob, 100);
  }
  Learn(estimates, kJob, 3600);
  const RunTimeEstimate estimate = estimates.Estimate(kJob);
  EXPECT_EQ(estimate.used, 100);
  EXPECT_EQ(estimate.source, EstimateSource::kAlike);
}

TEST(RunTimeEstimates, GoFromTheSameJobToTheSameLimitToTheUsersUseOfLimits) {
  RunTimeEstimates estimates;
  for (int i = 0; i < 3; ++i) {
    Learn(estimates, kJob, 900);
  }
  EXPECT_EQ(estimates.Estimate({7, 3600, 64}).source, EstimateSource::kSameLimit);
  const RunTimeEstimate other = estimates.Estimate({7, 7200, 4});
  EXPECT_EQ(other.source, EstimateSource::kUser);
  EXPECT_EQ(other.used, 1800);
  EXPECT_EQ(estimates.Estimate({8, 3600, 4}).source, EstimateSource::kLimit);
}

TEST(RunTimeEstimates, WhereGuessesWereWorseLimitsAreUsed) {
  RunTimeEstimates estimates;
  for (int i = 0; i < 12; ++i) {
    Learn(estimates, kJob, 1);
  }
  ASSERT_EQ(estimates.Estimate(kJob).used, 1);
  for (int i = 0; i < 4; ++i) {
    Learn(estimates, kJob, 3600);
  }
  EXPECT_LT(estimates.Trust(kJob.user), 0);
  EXPECT_EQ(estimates.Estimate(kJob).used, 3600);
}

// Whatever the jobs do: while guesses are used without a break, they cost no more than limits and
// what they had earned, and one job's loss.
TEST(RunTimeEstimates, TheirRegretAgainstLimitsIsBounded) {
  testing::HoldsInManyCases([] {
    RunTimeEstimates estimates;
    std::int64_t regret = 0;
    const auto jobs = *rc::gen::inRange(1, 60);
    for (int i = 0; i < jobs; ++i) {
      const JobLikeness job{1, *rc::gen::element<std::int64_t>(60, 3600), 1};
      const RunTimeEstimate estimate = estimates.Estimate(job);
      RC_ASSERT(estimate.used >= 1 && estimate.used <= job.limit);
      const auto run_time = *rc::gen::oneOf(rc::gen::element<std::int64_t>(1, job.limit),
                                            rc::gen::inRange<std::int64_t>(1, job.limit + 1));
      if (estimate.used == estimate.guess) {
        const std::int64_t more = RunTimeEstimates::Loss(estimate.guess, run_time) -
                                  RunTimeEstimates::Loss(job.limit, run_time);
        regret += std::min(more, RunTimeEstimates::kLossMax);
      } else {
        regret = 0;
      }
      RC_ASSERT(regret <= RunTimeEstimates::kTrustMax + RunTimeEstimates::kLossMax);
      estimates.Observe(job, estimate, run_time);
    }
  });
}

TEST(RunTimeEstimates, RunTimesBelowOneAreNoNewsAndHugeOnesDoNoHarm) {
  RunTimeEstimates estimates;
  for (int i = 0; i < 5; ++i) {
    Learn(estimates, kJob, -100);
    Learn(estimates, kJob, 0);
  }
  EXPECT_EQ(estimates.Estimate(kJob).source, EstimateSource::kLimit);
  const std::int64_t most = std::numeric_limits<std::int64_t>::max();
  for (int i = 0; i < 5; ++i) {
    Learn(estimates, {9, most, 1}, most);
  }
  EXPECT_EQ(estimates.Estimate({9, most, 1}).used, most);
}

}  // namespace
}  // namespace muster::core
