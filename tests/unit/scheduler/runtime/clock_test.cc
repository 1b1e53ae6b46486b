#include "scheduler/runtime/clock.h"

#include <gtest/gtest.h>

namespace muster {
namespace {

using std::chrono::milliseconds;

TEST(SystemClock, TellsThisCenturysTime) {
  const SystemClock clock;
  EXPECT_GT(clock.Now(), std::chrono::sys_days(std::chrono::year(2024) / 1 / 1));
  EXPECT_LT(clock.Now(), std::chrono::sys_days(std::chrono::year(2100) / 1 / 1));
}

TEST(SystemClock, SteadyTimeNeverGoesBack) {
  const SystemClock clock;
  SteadyTime last = clock.SteadyNow();
  EXPECT_GT(last.time_since_epoch().count(), 0);
  for (int i = 0; i < 1000; ++i) {
    const SteadyTime now = clock.SteadyNow();
    ASSERT_GE(now, last);
    last = now;
  }
}

TEST(ManualClock, MovesBothClocksOnlyWhenTold) {
  const Time start(milliseconds(5000));
  ManualClock clock(start);
  const SteadyTime steady = clock.SteadyNow();
  EXPECT_EQ(clock.Now(), start);
  clock.Advance(milliseconds(250));
  EXPECT_EQ(clock.Now(), start + milliseconds(250));
  EXPECT_EQ(clock.SteadyNow(), steady + milliseconds(250));
}

TEST(ManualClock, SettingTheWallClockLeavesDurationsAlone) {
  ManualClock clock(Time(milliseconds(5000)));
  const SteadyTime steady = clock.SteadyNow();
  clock.SetWall(Time(milliseconds(1)));
  EXPECT_EQ(clock.Now(), Time(milliseconds(1)));
  EXPECT_EQ(clock.SteadyNow(), steady);
}

TEST(ManualClockDeathTest, RefusesToGoBack) {
  ManualClock clock(Time(milliseconds(5000)));
  EXPECT_DEATH(clock.Advance(milliseconds(-1)), "broken invariant");
}

}  // namespace
}  // namespace muster
