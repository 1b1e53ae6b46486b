#include "scheduler/core/share/priority.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <chrono>
#include <limits>

namespace muster::core {
namespace {

using std::chrono::hours;

WeightedFactor Weighted(const char* name, std::uint32_t weight, std::uint32_t factor) {
  return {.name = name, .weight = weight, .factor = Factor(factor)};
}

std::int64_t SumOfTerms(const Priority& priority) {
  std::int64_t sum = 0;
  for (const PriorityTerm& term : priority.terms) {
    sum += term.points;
  }
  return sum;
}

TEST(Priority, IsTheSumOfItsTerms) {
  const Priority priority = MakePriority(
      {.held = false,
       .site = 7,
       .factors = {Weighted("age", 1000, 500'000'000), Weighted("fairshare", 10'000, 123'456'789),
                   Weighted("tres/cpu", 100, 1'000'000'000)},
       .nice = 50});
  EXPECT_EQ(priority.total, 7U + 500 + 1234 + 100 - 50);
  ASSERT_EQ(priority.terms.size(), 5U);
  EXPECT_EQ(priority.terms[0].name, "site");
  EXPECT_EQ(priority.terms[2].name, "fairshare");
  EXPECT_EQ(priority.terms[2].weight, 10'000U);
  EXPECT_EQ(priority.terms[2].factor, Factor(123'456'789));
  EXPECT_EQ(priority.terms[2].points, 1234);
  EXPECT_EQ(priority.terms[4].name, "nice");
  EXPECT_EQ(priority.terms[4].points, -50);
}

TEST(Priority, AHeldJobHasNone) {
  EXPECT_EQ(MakePriority({.held = true, .site = 9, .factors = {}, .nice = 0}).total, 0U);
}

TEST(Priority, AnEligibleJobHasAtLeastOne) {
  EXPECT_EQ(MakePriority({}).total, 1U);
  const Priority nice = MakePriority({.held = false, .site = 0, .factors = {}, .nice = 1000});
  EXPECT_EQ(nice.total, 1U);
  EXPECT_EQ(nice.terms.back().name, "bounds");
  EXPECT_EQ(nice.terms.back().points, 1001);
}

TEST(Priority, StaysWithinThirtyTwoBits) {
  const std::uint32_t most = std::numeric_limits<std::uint32_t>::max();
  EXPECT_EQ(MakePriority({.held = false,
                          .site = std::numeric_limits<std::int64_t>::max(),
                          .factors = {Weighted("age", most, 1'000'000'000)},
                          .nice = std::numeric_limits<std::int64_t>::min()})
                .total,
            most);
  EXPECT_EQ(MakePriority({.held = false,
                          .site = std::numeric_limits<std::int64_t>::min(),
                          .factors = {},
                          .nice = 0})
                .total,
            1U);
}

TEST(Priority, AFactorAboveOneCountsAsOne) {
  EXPECT_EQ(
      MakePriority(
          {.held = false, .site = 0, .factors = {Weighted("qos", 100, 4'000'000'000)}, .nice = 0})
          .total,
      100U);
}

TEST(Priority, RatiosAreClampedAndRoundedDown) {
  EXPECT_EQ(RatioFactor(1, 3), Factor(333'333'333));
  EXPECT_EQ(RatioFactor(5, 4), kWholeFactor);
  EXPECT_EQ(RatioFactor(5, 0), Factor());
  EXPECT_EQ(RatioFactor(~0ULL, ~0ULL), kWholeFactor);
  EXPECT_EQ(RatioFactor(~0ULL - 1, ~0ULL), Factor(999'999'999));
}

TEST(Priority, AgeGrowsUpToItsMost) {
  EXPECT_EQ(AgeFactor(hours(12), hours(24)), Factor(500'000'000));
  EXPECT_EQ(AgeFactor(hours(48), hours(24)), kWholeFactor);
  EXPECT_EQ(AgeFactor(hours(-1), hours(24)), Factor());
  EXPECT_EQ(AgeFactor(hours(0), hours(0)), Factor());
  EXPECT_EQ(AgeFactor(hours(1), hours(0)), kWholeFactor);
}

TEST(PriorityProperty, TermsAddUpAndMoreNeverGivesLess) {
  EXPECT_TRUE(rc::check([] {
    PriorityRequest request;
    request.site = *rc::gen::inRange<std::int64_t>(-5'000'000'000, 5'000'000'000);
    request.nice = *rc::gen::inRange<std::int64_t>(-5'000'000'000, 5'000'000'000);
    const int count = *rc::gen::inRange(1, 8);
    for (int i = 0; i < count; ++i) {
      request.factors.push_back(Weighted("f", *rc::gen::arbitrary<std::uint32_t>(),
                                         *rc::gen::inRange(0U, 1'000'000'001U)));
    }
    const Priority priority = MakePriority(request);
    RC_ASSERT(priority.total >= 1U);
    RC_ASSERT(SumOfTerms(priority) == std::int64_t{priority.total});
    PriorityRequest more = request;
    more.factors[0].factor += Factor(*rc::gen::inRange(0U, 1000U));
    RC_ASSERT(MakePriority(more).total >= priority.total);
  }));
}

}  // namespace
}  // namespace muster::core
