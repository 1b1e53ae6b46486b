// Two schedules of the same jobs, compared.

#include <gtest/gtest.h>

#include "scheduler/simulator/random_sequence.h"
#include "scheduler/simulator/schedule/schedule_comparison.h"

namespace muster::sim {
namespace {

constexpr std::int64_t kDay = 24 * 3600;

// A job a day for 100 days; every second one is user 1's.
std::vector<JobOutcome> Days(std::int64_t wait_of_zero, std::int64_t wait_of_one) {
  std::vector<JobOutcome> jobs;
  for (std::int64_t day = 0; day < 100; ++day) {
    const std::int64_t user = day % 2;
    jobs.push_back({.id = day,
                    .submit = day * kDay,
                    .user = user,
                    .wait = user == 0 ? wait_of_zero : wait_of_one,
                    .slowdown = 1});
  }
  return jobs;
}

TEST(Comparison, WhoAlwaysWaitsLessGainsAndWhoAlwaysWaitsMoreLoses) {
  const Comparison comparison = Compare(Days(100, 100), Days(40, 130), {});
  EXPECT_EQ(comparison.jobs, 100U);
  EXPECT_EQ(comparison.block, 7 * kDay);
  EXPECT_EQ(comparison.blocks, 15U);
  ASSERT_EQ(comparison.users.size(), 2U);
  EXPECT_EQ(comparison.users[0].wait.mean, -60);
  EXPECT_EQ(comparison.users[0].wait.high, -60) << "it does not vary";
  EXPECT_TRUE(comparison.users[0].wait.is_less());
  EXPECT_TRUE(comparison.users[1].wait.is_more());
  EXPECT_EQ(comparison.overall.wait.mean, -15);
}

TEST(Comparison, NoiseAloneIsUnclear) {
  RandomSequence random(7);
  std::vector<JobOutcome> base = Days(1000, 1000);
  std::vector<JobOutcome> variant = base;
  for (JobOutcome& job : variant) {
    job.wait += static_cast<std::int64_t>(random.Below(2001)) - 1000;
  }
  const Comparison comparison = Compare(base, variant, {});
  EXPECT_FALSE(comparison.overall.wait.is_less());
  EXPECT_FALSE(comparison.overall.wait.is_more());
  EXPECT_LT(comparison.overall.wait.low, comparison.overall.wait.mean);
  EXPECT_GT(comparison.overall.wait.high, comparison.overall.wait.mean);
}

// Independent normal differences, one a block: the interval must hold the true mean about as often
// as it says.
TEST(Comparison, TheIntervalHoldsTheTruthAsOftenAsItSays) {
  RandomSequence random(11);
  int held = 0;
  constexpr int kTrials = 400;
  for (int trial = 0; trial < kTrials; ++trial) {
    std::vector<JobOutcome> base;
    std::vector<JobOutcome> variant;
    for (std::int64_t week = 0; week < 60; ++week) {
      base.push_back({.id = week, .submit = week * 7 * kDay, .wait = 1'000'000});
      variant.push_back(base.back());
      variant.back().wait += 500 + static_cast<std::int64_t>(random.Normal() * 3000);
    }
    const Difference wait = Compare(base, variant, {.seed = 3, .resamples = 300}).overall.wait;
    held += wait.low <= 500 && wait.high >= 500 ? 1 : 0;
  }
  EXPECT_GT(held, kTrials * 90 / 100);
  EXPECT_LT(held, kTrials * 98 / 100);
}

TEST(Comparison, AFewJobsProveNothing) {
  std::vector<JobOutcome> base = Days(100, 100);
  std::vector<JobOutcome> variant = base;
  base[3].user = variant[3].user = 7;
  variant[3].wait = 0;
  const OwnerDifference rare = Compare(base, variant, {}).users.back();
  EXPECT_EQ(rare.owner, 7);
  EXPECT_EQ(rare.wait.mean, -100);
  EXPECT_FALSE(rare.wait.known);
  EXPECT_FALSE(rare.wait.is_less());
}

TEST(Comparison, AccountsAreToldApartLikeUsersAndJobsOfNoAccountTogether) {
  std::vector<JobOutcome> base = Days(100, 100);
  for (JobOutcome& job : base) {
    job.account = job.id % 4 == 3 ? -1 : 10 + job.id % 4 / 2;
  }
  std::vector<JobOutcome> variant = base;
  for (JobOutcome& job : variant) {
    job.wait += job.account == 11 ? 50 : -20;
  }
  const Comparison comparison = Compare(base, variant, {});
  ASSERT_EQ(comparison.accounts.size(), 3U);
  EXPECT_EQ(comparison.accounts[0].owner, -1);
  EXPECT_EQ(comparison.accounts[0].jobs, 25U);
  EXPECT_EQ(comparison.accounts[1].owner, 10);
  EXPECT_EQ(comparison.accounts[1].jobs, 50U);
  EXPECT_TRUE(comparison.accounts[1].wait.is_less());
  EXPECT_EQ(comparison.accounts[2].wait.mean, 50);
  EXPECT_TRUE(comparison.accounts[2].wait.is_more());
  std::uint64_t of_users = 0;
  for (const OwnerDifference& user : comparison.users) {
    of_users += user.jobs;
  }
  EXPECT_EQ(of_users, comparison.jobs);
}

TEST(Comparison, TheSameSeedGivesTheSameBitsAndJobsOfOneScheduleAreCounted) {
  std::vector<JobOutcome> variant = Days(5, 900);
  variant[10].wait = 77'777;
  const Comparison one = Compare(Days(100, 100), variant, {});
  const Comparison again = Compare(Days(100, 100), variant, {});
  EXPECT_EQ(one.overall.wait.low, again.overall.wait.low);
  variant.pop_back();
  EXPECT_EQ(Compare(Days(100, 100), variant, {}).only_one, 1U);
  EXPECT_EQ(Compare({}, variant, {}).jobs, 0U);
}

}  // namespace
}  // namespace muster::sim
