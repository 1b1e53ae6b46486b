#include "agent/node/pace/pace_window.h"

#include <gtest/gtest.h>

#include <chrono>

#include "scheduler/model/machine/gpu_pace.h"
#include "scheduler/model/view/rank_pace.h"

namespace muster::agent {
namespace {

using std::chrono::seconds;

GpuLook Busy(int span_s, std::uint32_t mhz) {
  GpuLook look;
  look.span = seconds(span_s);
  look.busy_percent = 100;
  look.clock_mhz = mhz;
  return look;
}

TEST(PaceWindow, TheLooksThatAreKeptCoverTheLastMinuteAndNoMore) {
  RankWindow window;
  EXPECT_EQ(window.Now(), RankPace());
  for (int i = 0; i < 5; ++i) {
    window.Add({.span = seconds(10), .granted = 1000});
  }
  EXPECT_EQ(window.Now().span, seconds(50));
  for (int i = 0; i < 5; ++i) {
    window.Add({.span = seconds(10), .granted = 500});
  }
  EXPECT_EQ(window.Now().span, seconds(60));
  EXPECT_EQ(window.Now().looks, 6U);
  EXPECT_EQ(window.Now().granted, 500U);
  window.Add({.span = seconds(90)});
  EXPECT_EQ(window.Now().span, seconds(90)) << "one look may be longer";
  EXPECT_EQ(window.Now().granted, std::nullopt) << "what it could not tell is not told";
}

TEST(PaceWindow, WhatHeldForLessThanHalfOfTheTimeMovesNothing) {
  RankWindow window;
  for (int i = 0; i < 20; ++i) {
    window.Add({.span = seconds(1), .wanted = 2000, .granted = 300});
  }
  window.Add({.span = seconds(40), .wanted = 500, .granted = 990});
  EXPECT_EQ(window.Now().granted, 990U) << "20 looks of a second, one of forty";
  EXPECT_EQ(window.Now().wanted, 1000U) << "the mean by time";
}

TEST(PaceWindow, AClockCountsWhileTheGpuIsBusy) {
  GpuWindow window;
  GpuLook idle = Busy(10, 345);
  idle.busy_percent = GpuWindow::kBusyPercent - 1;
  window.Add(idle);
  EXPECT_EQ(window.Now().clock_mhz, std::nullopt);
  EXPECT_EQ(window.Now().looks, 0U);
  for (const std::uint32_t mhz : {1980, 1400, 1395, 1395, 1410}) {
    window.Add(Busy(10, mhz));
  }
  const GpuPace pace = window.Now();
  EXPECT_EQ(pace.span, seconds(60));
  EXPECT_EQ(pace.busy, seconds(50));
  EXPECT_EQ(pace.looks, 5U);
  EXPECT_EQ(pace.clock_mhz, 1400U);
  EXPECT_EQ(pace.brakes, std::nullopt);
  EXPECT_EQ(pace.link, std::nullopt);
}

TEST(PaceWindow, ABrakeIsOneThatHeldForHalfOfTheBusyTime) {
  GpuWindow window;
  for (const std::uint32_t brakes :
       {kBrakePower, kBrakePower | kBrakeHeat, kBrakePower, 0U, 0U, 0U}) {
    GpuLook look = Busy(10, 1500);
    look.brakes = brakes;
    look.work = brakes == 0 ? 1000 : 500;
    look.link = {5, 16, 18};
    window.Add(look);
  }
  EXPECT_EQ(window.Now().brakes, kBrakePower);
  EXPECT_EQ(window.Now().work, 750U);
  EXPECT_EQ(window.Now().link, (GpuLink{5, 16, 18}));
}

TEST(PaceWindow, ProgressIsTheStepsBetweenMarksOfTheLastMinute) {
  RankWindow window;
  const Time start(seconds(1'000'000));
  window.Mark(100, start, start);
  EXPECT_EQ(window.Now().progress, std::nullopt);
  window.Mark(120, start + seconds(20), start + seconds(20));
  EXPECT_EQ(window.Now().progress, std::nullopt) << "too near";
  window.Mark(145, start + seconds(30), start + seconds(31));
  EXPECT_EQ(window.Now().progress, 1'500'000U);
  window.Mark(145, start + seconds(30), start + seconds(41));
  EXPECT_EQ(window.Now().progress, 1'500'000U) << "nothing new";
  window.Mark(145, start + seconds(30), start + seconds(85));
  EXPECT_EQ(window.Now().progress, std::nullopt) << "it says no more";
  window.Mark(3, start + seconds(86), start + seconds(86));
  window.Mark(33, start + seconds(116), start + seconds(116));
  EXPECT_EQ(window.Now().progress, 1'000'000U) << "its steps began again";
}

}  // namespace
}  // namespace muster::agent
