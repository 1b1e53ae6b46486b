#include "scheduler/core/place/nodes/node_timeline.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <vector>

#include "tests/unit/scheduler/core/builders.h"

namespace muster::core {
namespace {

using std::chrono::seconds;
using testing::At;

FreeAmounts Amounts(std::uint32_t cores, std::uint16_t gpus = 0) {
  FreeAmounts amounts;
  amounts.cores = cores;
  amounts.gpus[0] = gpus;
  amounts.memory = kGibibyte;
  return amounts;
}

NodeDemand Cores(std::uint32_t cores) {
  NodeDemand demand;
  demand.cores = cores;
  return demand;
}

TEST(NodeTimeline, WhatIsReleasedIsFreeFromThenOn) {
  NodeTimeline timeline(Amounts(1), At(0));
  timeline.Release(At(10), Amounts(2), Amounts(4));
  timeline.Release(At(20), Amounts(1), Amounts(4));
  EXPECT_EQ(timeline.EarliestFit(Cores(1), At(0), seconds(100)), At(0));
  EXPECT_EQ(timeline.EarliestFit(Cores(3), At(0), seconds(1)), At(10));
  EXPECT_EQ(timeline.EarliestFit(Cores(4), At(0), seconds(1)), At(20));
  EXPECT_EQ(timeline.EarliestFit(Cores(5), At(0), seconds(1)), kFarFuture);
}

TEST(NodeTimeline, NeverMoreIsFreeThanThereIs) {
  NodeTimeline timeline(Amounts(3), At(0));
  timeline.Release(At(10), Amounts(3), Amounts(4));
  EXPECT_EQ(timeline.Least(At(10), At(11)).cores, 4U);
}

TEST(NodeTimeline, AHoleThatIsTooShortIsPassedOver) {
  NodeTimeline timeline(Amounts(4), At(0));
  timeline.Take(Cores(3), At(10), At(20));
  EXPECT_EQ(timeline.EarliestFit(Cores(2), At(0), seconds(10)), At(0));
  EXPECT_EQ(timeline.EarliestFit(Cores(2), At(0), seconds(11)), At(20));
  EXPECT_EQ(timeline.EarliestFit(Cores(1), At(0), seconds(11)), At(0));
}

NodeDemand CoreOf(std::uint32_t user, bool alone) {
  NodeDemand demand = Cores(1);
  demand.user = user;
  demand.alone = alone;
  return demand;
}

TEST(NodeTimeline, AUserWhoIsTakenBackKeepsNobodyOutAndOthersStay) {
  NodeTimeline timeline(Amounts(4), At(0));
  timeline.Take(CoreOf(1, true), At(10), At(20));
  timeline.Take(CoreOf(1, false), At(15), At(30));
  EXPECT_EQ(timeline.EarliestFit(CoreOf(2, false), At(0), seconds(11)), At(20));
  timeline.TakeBackUser(CoreOf(1, true), At(10), At(20));
  EXPECT_EQ(timeline.EarliestFit(CoreOf(2, false), At(0), seconds(11)), At(0));
  EXPECT_EQ(timeline.EarliestFit(CoreOf(2, true), At(0), seconds(16)), At(30)) << "the other stays";
}

TEST(NodeTimeline, WhoIsThereStaysThoughATakenPlaceOfHisIsTakenBack) {
  NodeTimeline timeline(Amounts(4), At(0));
  timeline.AddUser(1, true, At(20));
  timeline.Take(CoreOf(1, true), At(0), At(50));
  timeline.TakeBackUser(CoreOf(1, true), At(0), At(50));
  EXPECT_EQ(timeline.EarliestFit(CoreOf(2, false), At(0), seconds(1)), At(20));
}

TEST(NodeTimeline, WithoutALimitAJobNeedsTheTimeForEver) {
  NodeTimeline timeline(Amounts(4), At(0));
  timeline.Take(Cores(3), kHorizon, kFarFuture);
  EXPECT_EQ(timeline.EarliestFit(Cores(2), At(0), Duration(0)), kFarFuture);
  EXPECT_EQ(timeline.EarliestFit(Cores(2), At(0), std::chrono::hours(24 * 365)), At(0));
}

// Against a table of what is free in each second.
RC_GTEST_PROP(NodeTimelineProperty, AgreesWithATableOfSeconds, ()) {
  constexpr int kSeconds = 40;
  const auto all = *rc::gen::inRange(1U, 6U);
  const auto now_free = *rc::gen::inRange(0U, all + 1);
  std::vector<std::uint32_t> table(kSeconds, now_free);
  NodeTimeline timeline(Amounts(now_free), At(0));
  if (const auto when = *rc::gen::inRange(1, kSeconds); now_free < all) {
    timeline.Release(At(when), Amounts(all - now_free), Amounts(all));
    std::fill(table.begin() + when, table.end(), all);
  }
  for (int i = *rc::gen::inRange(0, 6); i > 0; --i) {
    const auto from = *rc::gen::inRange(0, kSeconds - 1);
    const auto until = *rc::gen::inRange(from + 1, kSeconds);
    const auto cores = *rc::gen::inRange(0U, all + 1);
    timeline.Take(Cores(cores), At(from), At(until));
    for (int t = from; t < until; ++t) {
      table[static_cast<std::size_t>(t)] -= std::min(table[static_cast<std::size_t>(t)], cores);
    }
  }
  const auto cores = *rc::gen::inRange(0U, all + 1);
  const auto duration = *rc::gen::inRange(1, 10);
  int expected = 0;
  for (int run = 0; run < duration && expected + run < kSeconds; ++run) {
    if (table[static_cast<std::size_t>(expected + run)] < cores) {
      expected += run + 1;
      run = -1;
    }
  }
  const Time found = timeline.EarliestFit(Cores(cores), At(0), seconds(duration));
  // What runs past the table is free for ever, or never.
  RC_ASSERT((found == (expected < kSeconds ? At(expected) : kFarFuture)));
}

}  // namespace
}  // namespace muster::core
