#include "daemon/controller/cycle/pass_pace.h"

#include <gtest/gtest.h>

namespace muster::daemon {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

const PassPace::Clock::time_point kStart{seconds(100)};

// How long after the beginning of a cycle of so much work the next one may begin.
PassPace AfterPass(milliseconds work, bool full) {
  PassPace pace;
  pace.Begin(kStart);
  pace.End(work, full);
  return pace;
}

TEST(PassPace, TheFirstCycleBeginsAtOnce) {
  const PassPace pace;
  EXPECT_TRUE(pace.wanted());
  EXPECT_LE(pace.next(), PassPace::Clock::now());
}

TEST(PassPace, ACycleThatBeginsIsNoLongerWanted) {
  PassPace pace;
  pace.Begin(kStart);
  EXPECT_FALSE(pace.wanted());
  pace.WantForNew();
  EXPECT_TRUE(pace.wanted());
}

TEST(PassPace, ShortCyclesKeepTheFloorBetweenThem) {
  PassPace pace = AfterPass(milliseconds(1), false);
  pace.Want();
  EXPECT_EQ(pace.next(), kStart + PassPace::kFloor);
}

TEST(PassPace, LongCyclesTakeHalfOfTheTime) {
  PassPace pace = AfterPass(milliseconds(100), false);
  pace.Want();
  EXPECT_EQ(pace.next(), kStart + milliseconds(200));
}

TEST(PassPace, NewJobsWaitLongerWhereNoneCouldStart) {
  PassPace pace = AfterPass(milliseconds(10), true);
  pace.WantForNew();
  EXPECT_EQ(pace.next(), kStart + milliseconds(160));
}

TEST(PassPace, WhatEndsIsLookedAtSoonAlsoAmongNewJobs) {
  PassPace pace = AfterPass(milliseconds(10), true);
  pace.WantForNew();
  pace.Want();
  pace.WantForNew();
  EXPECT_EQ(pace.next(), kStart + milliseconds(20));
}

TEST(PassPace, NoWishWaitsLongerThanASecond) {
  PassPace pace = AfterPass(milliseconds(5000), true);
  pace.WantForNew();
  EXPECT_EQ(pace.next(), kStart + PassPace::kLongest);
}

}  // namespace
}  // namespace muster::daemon
