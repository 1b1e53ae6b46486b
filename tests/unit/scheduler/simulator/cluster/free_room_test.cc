// How large a job one node could take, through time.

#include "scheduler/simulator/cluster/free_room.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <vector>

namespace muster::sim {
namespace {

TEST(FreeRoom, WhatLiesTogetherIsNotFragmentedAndCrumbsAre) {
  FreeRoom room;
  room.AddNode(8);
  room.AddNode(8);
  EXPECT_EQ(room.largest(), 8);
  EXPECT_EQ(room.fragmentation(), 0);
  room.Set(0, 2);
  EXPECT_EQ(room.fragmentation(), 0);
  room.Set(1, 2);
  EXPECT_EQ(room.free(), 4);
  EXPECT_EQ(room.fragmentation(), 0.5);
  room.Close(0);
  EXPECT_EQ(room.free(), 2);
  EXPECT_EQ(room.fragmentation(), 0);
  room.Set(0, 7);
  EXPECT_EQ(room.largest(), 2);
  room.Open(0);
  EXPECT_EQ(room.largest(), 7);
}

TEST(FreeRoom, MeansAreOverTimeAndFragmentationOverTheTimeInWhichAnythingIsFree) {
  FreeRoom room;
  room.AddNode(4);
  room.AddNode(4);
  room.Advance(100);
  room.Set(0, 1);
  room.Set(1, 1);  // 1 of 2 free together
  room.Advance(110);
  room.Set(0, 0);
  room.Set(1, 0);
  room.Advance(130);
  EXPECT_DOUBLE_EQ(room.mean_largest(), 10.0 / 30);
  EXPECT_DOUBLE_EQ(room.mean_fragmentation(), 0.5);
  EXPECT_EQ(room.least_largest(), 0);
}

// Against a plain count of every second.
TEST(FreeRoom, TheSeriesKeepsTheMeansHoweverLongItGets) {
  EXPECT_TRUE(rc::check([] {
    const auto size = *rc::gen::inRange<std::int64_t>(1, 9);
    std::vector<std::int64_t> free(3, size);
    FreeRoom room;
    for (std::size_t i = 0; i < free.size(); ++i) {
      room.AddNode(size);
    }
    double largest = 0;
    std::int64_t now = 0;
    room.Advance(now);
    const auto changes = *rc::gen::inRange(1, 60);
    for (int i = 0; i < changes; ++i) {
      const auto node = *rc::gen::inRange<std::size_t>(0, free.size());
      free[node] = *rc::gen::inRange<std::int64_t>(0, size + 1);
      room.Set(node, free[node]);
      RC_ASSERT(room.largest() == *std::max_element(free.begin(), free.end()));
      const auto time = *rc::gen::inRange<std::int64_t>(0, 200);
      largest += static_cast<double>(time * room.largest());
      now += time;
      room.Advance(now);
    }
    RC_ASSERT(room.series().size() <= FreeRoom::kBucketsMax);
    double of_series = 0;
    double time_s = 0;
    for (const RoomBucket& bucket : room.series()) {
      of_series += bucket.largest;
      time_s += bucket.time_s;
    }
    RC_ASSERT(time_s == static_cast<double>(now));
    RC_ASSERT(of_series == largest);
    RC_ASSERT(now == 0 || room.mean_largest() == largest / static_cast<double>(now));
  }));
}

}  // namespace
}  // namespace muster::sim
