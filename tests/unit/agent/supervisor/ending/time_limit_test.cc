#include "agent/supervisor/ending/time_limit.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <chrono>
#include <vector>

#include "agent/supervisor/checkpoint/safe_times.h"
#include "tests/unit/scheduler/runtime/temp_directory.h"

namespace muster::agent {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr SteadyTime kStart{std::chrono::hours(1)};

TEST(TimeLimit, RunsFromWhatWasUsedAndStandsStillWhileItIsHeld) {
  TimeLimit limit;
  limit.Begin(seconds(100), seconds(10), kStart);
  EXPECT_EQ(limit.Left(kStart + seconds(20)), Duration(seconds(70)));
  limit.Hold(kStart + seconds(20));
  EXPECT_EQ(limit.Left(kStart + seconds(500)), Duration(seconds(70)));
  limit.RunOn(kStart + seconds(500));
  EXPECT_EQ(limit.Left(kStart + seconds(530)), Duration(seconds(40)));
  EXPECT_EQ(limit.Left(kStart + seconds(5300)), Duration(0));
}

TEST(TimeLimit, ChangesWithoutForgettingWhatWasUsed) {
  TimeLimit limit;
  limit.Begin(seconds(100), Duration(0), kStart);
  limit.Change(seconds(300));
  EXPECT_EQ(limit.Left(kStart + seconds(90)), Duration(seconds(210)));
  limit.Change(Duration::max());
  EXPECT_EQ(limit.Left(kStart + seconds(90)), std::nullopt);
  limit.Hold(kStart + seconds(90));
  limit.Change(seconds(100));
  EXPECT_EQ(limit.Left(kStart + seconds(900)), Duration(seconds(10)));
  limit.Change(seconds(50));
  EXPECT_EQ(limit.Left(kStart + seconds(900)), Duration(0));
}

TEST(TimeLimit, WhatItCountsIsTheTimeThatRan) {
  EXPECT_TRUE(rc::check([] {
    TimeLimit limit;
    const Duration whole = seconds(*rc::gen::inRange(1, 1000));
    limit.Begin(whole, Duration(0), kStart);
    SteadyTime now = kStart;
    Duration ran{0};
    bool held = false;
    for (int i = 0; i < 20; ++i) {
      const milliseconds step(*rc::gen::inRange(0, 50'000));
      now += step;
      ran += held ? Duration(0) : step;
      RC_ASSERT(limit.Used(now) == ran);
      RC_ASSERT(limit.Left(now) == std::max(limit.limit() - ran, Duration(0)));
      switch (*rc::gen::inRange(0, 3)) {
        case 0:
          limit.Hold(now);
          held = true;
          break;
        case 1:
          limit.RunOn(now);
          held = false;
          break;
        default:
          limit.Change(seconds(*rc::gen::inRange(1, 1000)));
      }
    }
  }));
}

TEST(WarningLead, IsWhatWasSaidOrWhatCheckpointsTake) {
  const Duration hour = std::chrono::hours(1);
  EXPECT_EQ(WarningLead({10, seconds(120), false, false}, seconds(7), hour), seconds(120));
  const WarningSignal automatic{10, seconds(60), true, false};
  EXPECT_EQ(WarningLead(automatic, Duration(0), hour), seconds(60)) << "nothing was measured";
  EXPECT_EQ(WarningLead(automatic, seconds(400), hour), seconds(400));
  EXPECT_EQ(WarningLead(automatic, seconds(7), hour), seconds(10)) << "no less";
  EXPECT_EQ(WarningLead(automatic, 3 * hour, hour), hour / 2) << "no more";
  EXPECT_EQ(WarningLead(automatic, seconds(7), seconds(8)), seconds(4));
}

TEST(SafeTimes, OfFewTheLongest) {
  SafeTimes times;
  EXPECT_EQ(times.Slow(), Duration(0));
  for (int i = 1; i <= 99; ++i) {
    times.Add(Duration(i));
    EXPECT_EQ(times.Slow(), Duration(i));
  }
  times.Add(Duration(1));
  EXPECT_EQ(times.Slow(), Duration(98)) << "99 of these 100 do not exceed it";
}

TEST(SafeTimes, NinetyNineOfAHundredDoNotExceedItAndFewerDoNotExceedLess) {
  EXPECT_TRUE(rc::check([] {
    SafeTimes times;
    std::vector<int> all;
    const int count = *rc::gen::inRange(1, 3000);
    for (int i = 0; i < count; ++i) {
      all.push_back(*rc::gen::inRange(1, 100'000));
      times.Add(Duration(all.back()));
    }
    const std::size_t kept = std::min(all.size(), kSafeTimesKept);
    std::vector<int> last(all.end() - static_cast<std::ptrdiff_t>(kept), all.end());
    const auto slow = static_cast<int>(times.Slow().count());
    const auto within = static_cast<std::size_t>(
        std::count_if(last.begin(), last.end(), [slow](int time) { return time <= slow; }));
    const auto below = static_cast<std::size_t>(
        std::count_if(last.begin(), last.end(), [slow](int time) { return time < slow; }));
    RC_ASSERT(std::count(last.begin(), last.end(), slow) > 0);
    RC_ASSERT(within * 100 >= kept * 99);
    RC_ASSERT(below * 100 < kept * 99);
  }));
}

TEST(NewestChange, IsThatOfTheDirectoryOrOfWhatLiesInIt) {
  const TempDirectory directory;
  EXPECT_EQ(NewestChange(directory / "nothing"), std::nullopt);
  ASSERT_EQ(system(("touch -d 2001-01-01T00:00:00Z " + (directory / "old") +
                    " && touch -d "
                    "2040-01-01T00:00:00Z " +
                    (directory / "new") + " && ln -s / " + (directory / "link") +
                    " && touch -d 2030-01-01T00:00:00Z " + (directory / "."))
                       .c_str()),
            0);
  const std::optional<Time> newest = NewestChange(directory / ".");
  ASSERT_TRUE(newest.has_value());
  EXPECT_EQ(*newest, Time(seconds(2'208'988'800)));
}

}  // namespace
}  // namespace muster::agent
