#include "cli/dev/idle_clock.h"

#include <gtest/gtest.h>

#include <chrono>
#include <utility>
#include <vector>

namespace muster::cli {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

const Time kBegan = Time(hours(1));

RankUse Rank(std::uint32_t rank, Duration cpu_time, std::int32_t gpu_busy = -1) {
  RankUse use;
  use.node = "n1";
  use.rank = rank;
  use.cpu_time = cpu_time;
  use.gpu_busy = gpu_busy;
  return use;
}

RankTable Table(std::vector<RankUse> ranks) {
  RankTable table;
  table.ranks = std::move(ranks);
  return table;
}

TEST(IdleClockTest, AServerThatWaitsIsIdle) {
  IdleClock clock(kBegan);
  Duration used = seconds(5);
  for (int look = 0; look <= 10; ++look) {
    clock.Looked(Table({Rank(0, used, 0)}), kBegan + look * seconds(30));
    used += milliseconds(300);  // a hundredth of a CPU
  }
  EXPECT_EQ(clock.Since(), kBegan);
}

TEST(IdleClockTest, CpuTimeIsUse) {
  IdleClock clock(kBegan);
  clock.Looked(Table({Rank(0, seconds(5)), Rank(1, seconds(1))}), kBegan);
  clock.Looked(Table({Rank(0, seconds(5)), Rank(1, seconds(2))}), kBegan + seconds(30));
  EXPECT_EQ(clock.Since(), kBegan + seconds(30));
  // A compiler that ran and ended took its time with it.
  clock.Looked(Table({Rank(0, seconds(5)), Rank(1, seconds(1))}), kBegan + seconds(60));
  EXPECT_EQ(clock.Since(), kBegan + seconds(60));
  clock.Looked(Table({Rank(0, seconds(5)), Rank(1, seconds(1))}), kBegan + seconds(90));
  EXPECT_EQ(clock.Since(), kBegan + seconds(60));
}

TEST(IdleClockTest, AGpuThatComputesIsUse) {
  IdleClock clock(kBegan);
  clock.Looked(Table({Rank(0, seconds(5), 0)}), kBegan);
  clock.Looked(Table({Rank(0, seconds(5), 1)}), kBegan + seconds(30));
  EXPECT_EQ(clock.Since(), kBegan + seconds(30));
}

TEST(IdleClockTest, WhatCannotBeMeasuredCountsAsUse) {
  IdleClock clock(kBegan);
  clock.Looked(Table({Rank(0, seconds(5))}), kBegan);
  clock.Looked(std::nullopt, kBegan + seconds(30));
  EXPECT_EQ(clock.Since(), kBegan + seconds(30));
  RankTable silent = Table({});
  silent.silent = {"n2"};
  clock.Looked(silent, kBegan + seconds(60));
  EXPECT_EQ(clock.Since(), kBegan + seconds(60));
  // What was used meanwhile is not known either.
  clock.Looked(Table({Rank(0, seconds(5))}), kBegan + seconds(90));
  EXPECT_EQ(clock.Since(), kBegan + seconds(90));
}

TEST(IdleClockTest, KeysAreUseAndOlderOnesChangeNothing) {
  IdleClock clock(kBegan);
  clock.Typed(kBegan + seconds(7));
  EXPECT_EQ(clock.Since(), kBegan + seconds(7));
  clock.Typed(kBegan + seconds(3));
  EXPECT_EQ(clock.Since(), kBegan + seconds(7));
}

}  // namespace
}  // namespace muster::cli
