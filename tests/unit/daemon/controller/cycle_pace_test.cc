#include "daemon/controller/cycle/cycle_pace.h"

#include <gtest/gtest.h>

namespace muster::daemon {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

const CyclePace::Clock::time_point kStart{seconds(100)};

// How long after the beginning of a cycle of so much work the next one may begin.
CyclePace AfterPass(milliseconds work, bool full) {
  CyclePace pace;
  pace.Begin(kStart);
  pace.End(work, full);
  return pace;
}

TEST(CyclePace, TheFirstCycleBeginsAtOnce) {
  const CyclePace pace;
  EXPECT_TRUE(pace.wanted());
  EXPECT_LE(pace.next(), CyclePace::Clock::now());
}

TEST(CyclePace, ACycleThatBeginsIsNoLongerWanted) {
  CyclePace pace;
  pace.Begin(kStart);
  EXPECT_FALSE(pace.wanted());
  pace.WantForNew();
  EXPECT_TRUE(pace.wanted());
}

TEST(CyclePace, ShortCyclesKeepTheFloorBetweenThem) {
  CyclePace pace = AfterPass(milliseconds(1), false);
  pace.Want();
  EXPECT_EQ(pace.next(), kStart + CyclePace::kFloor);
}

TEST(CyclePace, LongCyclesTakeHalfOfTheTime) {
  CyclePace pace = AfterPass(milliseconds(100), false);
  pace.Want();
  EXPECT_EQ(pace.next(), kStart + milliseconds(200));
}

TEST(CyclePace, NewJobsWaitLongerWhereNoneCouldStart) {
  CyclePace pace = AfterPass(milliseconds(10), true);
  pace.WantForNew();
  EXPECT_EQ(pace.next(), kStart + milliseconds(160));
}

TEST(CyclePace, WhatEndsIsLookedAtSoonAlsoAmongNewJobs) {
  CyclePace pace = AfterPass(milliseconds(10), true);
  pace.WantForNew();
  pace.Want();
  pace.WantForNew();
  EXPECT_EQ(pace.next(), kStart + milliseconds(20));
}

TEST(CyclePace, NoWishWaitsLongerThanASecond) {
  CyclePace pace = AfterPass(milliseconds(5000), true);
  pace.WantForNew();
  EXPECT_EQ(pace.next(), kStart + CyclePace::kLongest);
}

}  // namespace
}  // namespace muster::daemon
