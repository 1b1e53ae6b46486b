#include "scheduler/core/place/worth/collective_cost.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace muster::core {
namespace {

using Algorithm = CollectiveAlgorithm;

constexpr Bytes kGradients{14'000'000'000};
constexpr double kNear = 1e-12;

LinkLevels Flat(std::uint32_t ranks, Link link) {
  return {{{ranks}, link}};
}

// `nodes` nodes of `each` ranks.
LinkLevels TwoLevels(std::uint32_t nodes, std::uint32_t each, Link inside, Link across) {
  return {{std::vector<std::uint32_t>(nodes, each), inside}, {{nodes}, across}};
}

CollectiveCost Predicted(Bytes bytes, const LinkLevels& levels,
                         Collective collective = Collective::kAllReduce) {
  const auto cost = PredictCollective(collective, bytes, levels);
  EXPECT_TRUE(cost.has_value());
  return cost.value_or(CollectiveCost{});
}

TEST(CollectiveCost, ARingOfEightMovesAndTakesWhatTheIssueSays) {
  const CollectiveCost fast = Predicted(kGradients, Flat(8, {0, 50e9}));
  EXPECT_DOUBLE_EQ(fast.bytes_per_rank, 24.5e9);
  EXPECT_DOUBLE_EQ(fast.seconds, 0.49);
  EXPECT_EQ(fast.algorithm, Algorithm::kRing);
  EXPECT_DOUBLE_EQ(Predicted(kGradients, Flat(8, {0, 12.5e9})).seconds, 1.96);
}

TEST(CollectiveCost, AGatherAndAScatterAreHalfAnAllReduceEach) {
  const LinkLevels levels = Flat(8, {1e-6, 50e9});
  const double gather = Predicted(kGradients, levels, Collective::kAllGather).seconds;
  const double scatter = Predicted(kGradients, levels, Collective::kReduceScatter).seconds;
  EXPECT_DOUBLE_EQ(gather + scatter, Predicted(kGradients, levels).seconds);
}

TEST(CollectiveCost, LatencyCountsOncePerStep) {
  const auto ring =
      CostOf(Algorithm::kRing, Collective::kAllReduce, Bytes(800), Flat(8, {1e-5, 1e9}));
  EXPECT_NEAR(ring->seconds, 14 * 1e-5 + 1400 / 1e9, 1e-15);
  const auto doubling = CostOf(Algorithm::kRecursiveDoubling, Collective::kAllReduce, Bytes(800),
                               Flat(8, {1e-5, 1e9}));
  EXPECT_NEAR(doubling->seconds, 3 * (1e-5 + 800 / 1e9), 1e-15);
  EXPECT_EQ(Predicted(Bytes(800), Flat(8, {1e-5, 1e9})).algorithm, Algorithm::kRecursiveDoubling);
  // 6 ranks: two steps to 4, two to fold the odd two in and out.
  EXPECT_NEAR(CostOf(Algorithm::kRecursiveDoubling, Collective::kAllReduce, Bytes(800),
                     Flat(6, {1e-5, 1e9}))
                  ->seconds,
              4 * (1e-5 + 800 / 1e9), 1e-15);
}

TEST(CollectiveCost, ByHierarchyWhereTheLinksInsideAreFaster) {
  // Inside: 2 * 7/8 * 14e9 / 450e9; across: 2 * 3/4 * 1.75e9 / 50e9.
  const CollectiveCost cost = Predicted(kGradients, TwoLevels(4, 8, {0, 450e9}, {0, 50e9}));
  EXPECT_EQ(cost.algorithm, Algorithm::kHierarchical);
  EXPECT_NEAR(cost.seconds, 24.5 / 450 + 2.625 / 50, kNear);
  EXPECT_LT(cost.seconds, Predicted(kGradients, Flat(32, {0, 50e9})).seconds / 4);
}

TEST(CollectiveCost, ARingWhereAllLinksAreEqual) {
  EXPECT_EQ(Predicted(kGradients, TwoLevels(4, 8, {0, 50e9}, {0, 50e9})).algorithm,
            Algorithm::kRing);
}

TEST(CollectiveCost, OfUnequalGroupsTheLargestSetsThePaceAndTheSmallestThePartLeft) {
  const LinkLevels levels = {{{6, 2}, {0, 100e9}}, {{2}, {0, 10e9}}};
  const auto cost =
      CostOf(Algorithm::kHierarchical, Collective::kAllReduce, Bytes(12'000'000'000), levels);
  EXPECT_NEAR(cost->seconds, 2 * 5 / 6.0 * 0.12 + 2 * 0.5 * 0.6, kNear);
}

TEST(CollectiveCost, OneRankSendsNothing) {
  const CollectiveCost cost = Predicted(kGradients, Flat(1, {1, 1}));
  EXPECT_EQ(cost.algorithm, Algorithm::kNone);
  EXPECT_EQ(cost.seconds, 0);
  EXPECT_EQ(cost.bytes_per_rank, 0);
}

TEST(CollectiveCost, LevelsThatContradictOneAnotherAreRefused) {
  const Link link{0, 1e9};
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const LinkLevels& levels :
       std::vector<LinkLevels>{{},
                               {{{}, link}},
                               {{{0}, link}},
                               {{{4, 4}, link}},
                               {{{4, 4}, link}, {{3}, link}},
                               {{{4, 0}, link}, {{2}, link}},
                               {{{4}, {0, 0}}},
                               {{{4}, {-1, 1e9}}},
                               {{{4}, {nan, 1e9}}},
                               {{{4}, {0, nan}}},
                               {{{4}, {0, std::numeric_limits<double>::infinity()}}}}) {
    EXPECT_EQ(RanksOf(levels), 0U);
    EXPECT_FALSE(PredictCollective(Collective::kAllReduce, Bytes(1), levels).has_value());
  }
  EXPECT_EQ(RanksOf({{{4, 3, 1}, link}, {{2, 1}, link}, {{2}, link}}), 8U);
}

// Any valid levels: random groups, then groups of groups, until one is left.
LinkLevels AnyLevels() {
  const auto link = [] {
    return Link{*rc::gen::inRange(0, 100) * 1e-6, *rc::gen::inRange(1, 1000) * 1e9};
  };
  LinkLevels levels;
  std::uint32_t groups = *rc::gen::inRange<std::uint32_t>(1, 9);
  do {
    LinkLevel level{{}, link()};
    for (std::uint32_t i = 0; i < groups; ++i) {
      level.group_sizes.push_back(*rc::gen::inRange<std::uint32_t>(1, 9));
    }
    levels.insert(levels.begin(), level);
    groups = 0;
    if (levels.size() == 1) {
      levels.front().group_sizes.resize(1);
    }
    for (const std::uint32_t size : levels.front().group_sizes) {
      groups += size;
    }
  } while (levels.size() < 3 && *rc::gen::arbitrary<bool>());
  return levels;
}

Collective AnyCollective() {
  return *rc::gen::element(Collective::kAllReduce, Collective::kAllGather,
                           Collective::kReduceScatter);
}

Bytes AnyBytes() {
  return Bytes(*rc::gen::inRange<std::uint64_t>(0, 1'000'000'000'000));
}

TEST(CollectiveCostProperty, NothingThatIsKnownIsFaster) {
  EXPECT_TRUE(rc::check([] {
    const LinkLevels levels = AnyLevels();
    RC_ASSERT(RanksOf(levels) > 0);
    const Collective collective = AnyCollective();
    const Bytes bytes = AnyBytes();
    const auto best = PredictCollective(collective, bytes, levels);
    RC_ASSERT(best.has_value());
    for (const Algorithm algorithm :
         {Algorithm::kRing, Algorithm::kHierarchical, Algorithm::kRecursiveDoubling}) {
      const auto cost = CostOf(algorithm, collective, bytes, levels);
      RC_ASSERT(!cost || best->seconds <= cost->seconds);
    }
  }));
}

TEST(CollectiveCostProperty, MoreBytesAreNeverFaster) {
  EXPECT_TRUE(rc::check([] {
    const LinkLevels levels = AnyLevels();
    const Collective collective = AnyCollective();
    const Bytes bytes = AnyBytes();
    const Bytes more = bytes + AnyBytes();
    RC_ASSERT(PredictCollective(collective, more, levels)->seconds >=
              PredictCollective(collective, bytes, levels)->seconds);
  }));
}

TEST(CollectiveCostProperty, ABetterLinkIsNeverSlower) {
  EXPECT_TRUE(rc::check([] {
    LinkLevels levels = AnyLevels();
    const Collective collective = AnyCollective();
    const Bytes bytes = AnyBytes();
    const double before = PredictCollective(collective, bytes, levels)->seconds;
    const auto which = *rc::gen::inRange<std::size_t>(0, levels.size());
    levels[which].link.bytes_per_second *= 2;
    levels[which].link.alpha_s /= 2;
    RC_ASSERT(PredictCollective(collective, bytes, levels)->seconds <= before);
  }));
}

TEST(CollectiveCostProperty, NoAllReduceBeatsTheBandwidthOfItsBestLink) {
  EXPECT_TRUE(rc::check([] {
    const LinkLevels levels = AnyLevels();
    const Bytes bytes = AnyBytes();
    double best = 0;
    for (const LinkLevel& level : levels) {
      best = std::max(best, level.link.bytes_per_second);
    }
    const double least = RingBytesPerRank(Collective::kAllReduce, bytes, RanksOf(levels)) / best;
    RC_ASSERT(PredictCollective(Collective::kAllReduce, bytes, levels)->seconds >=
              least * (1 - kNear));
  }));
}

TEST(CollectiveCostProperty, TheOrderOfGroupsDoesNotMatter) {
  EXPECT_TRUE(rc::check([] {
    LinkLevels levels = AnyLevels();
    const Bytes bytes = AnyBytes();
    const auto before = PredictCollective(Collective::kAllReduce, bytes, levels);
    std::reverse(levels.front().group_sizes.begin(), levels.front().group_sizes.end());
    RC_ASSERT(PredictCollective(Collective::kAllReduce, bytes, levels) == before);
  }));
}

}  // namespace
}  // namespace muster::core
