#include "cli/page/quantity.h"

#include <gtest/gtest.h>

#include <csignal>

#include "cli/sheet/usage_text.h"

namespace muster::cli {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

TEST(Quantity, MomentsAreInTheZoneAndNeverIsADash) {
  const Time time{Duration(1'773'480'413'589)};
  EXPECT_EQ(MomentText(time, absl::UTCTimeZone()), "2026-03-14 09:26:53");
  EXPECT_EQ(MomentText(time, absl::FixedTimeZone(3600)), "2026-03-14 10:26:53");
  EXPECT_EQ(MomentText(kNoTime, absl::UTCTimeZone()), "-");
}

TEST(Quantity, EfficiencyIsTheShareOfTheCpusThatWasUsed) {
  Usage usage;
  usage.user_cpu = seconds(30);
  usage.system_cpu = seconds(6);
  EXPECT_EQ(CpuEfficiency(usage, seconds(10), 4), "90 %");
  EXPECT_EQ(CpuEfficiency(usage, seconds(0), 4), "");
  EXPECT_EQ(CpuEfficiency(usage, seconds(10), 0), "");
}

TEST(Quantity, ASignalIsNamed) {
  EXPECT_EQ(ExitText({.code = 3, .signal = 0}), "exit code 3");
  EXPECT_EQ(ExitText({.code = 0, .signal = SIGTERM}), "signal 15 (SIGTERM)");
  EXPECT_EQ(ExitText({.code = 0, .signal = 999}), "signal 999");
}

TEST(Quantity, WhatGpusDidIsAShareOfAllOfThem) {
  Usage usage;
  usage.gpu_busy = std::chrono::seconds(60);
  usage.gpu_memory = Bytes(std::uint64_t{3} << 30);
  usage.gpu_energy_mj = 90'000'000;
  EXPECT_EQ(GpuUseText(usage, std::chrono::seconds(100), 2),
            "30 % of 2 GPUs, at most 3 GiB of one, 25.0 Wh");
  usage.gpu_energy_mj = 0;
  EXPECT_EQ(GpuUseText(usage, std::chrono::seconds(100), 1), "60 % of 1 GPU, at most 3 GiB of one");
  EXPECT_EQ(GpuUseText(usage, std::chrono::seconds(100), 0), "");
}

TEST(Quantity, HowBusyGpusWereIsOfTheTimeInWhichSomebodyLooked) {
  Usage usage;
  usage.gpu_busy = std::chrono::seconds(13);
  usage.gpu_watched = std::chrono::seconds(14);
  EXPECT_EQ(GpuEfficiency(usage, std::chrono::seconds(8), 2), "93 %");
}

TEST(Quantity, WhatWasNotSampledIsNotNothing) {
  Usage usage;
  EXPECT_EQ(GpuUseText(usage, std::chrono::seconds(8), 1), "not sampled");
  usage.gpu_memory = kGibibyte * 3;
  EXPECT_EQ(GpuUseText(usage, std::chrono::seconds(8), 1),
            "busy time not sampled, at most 3 GiB of one");
  EXPECT_EQ(GpuEfficiency(usage, std::chrono::seconds(8), 1), "");
  usage.gpu_busy = Duration(1);
  EXPECT_EQ(GpuEfficiency(usage, std::chrono::seconds(100), 1), "0 %") << "idle at every look";
  EXPECT_FALSE(IsMeasured(usage)) << "its processes were not";
  EXPECT_EQ(CpuEfficiency(usage, std::chrono::seconds(100), 4), "");
  usage.peak_memory = kMebibyte;
  EXPECT_EQ(CpuEfficiency(usage, std::chrono::seconds(100), 4), "0 %") << "as sleep does";
}

TEST(Quantity, EnergyIsInTheUnitThatFits) {
  EXPECT_EQ(EnergyText(812'000), "812 J");
  EXPECT_EQ(EnergyText(3'600'000), "1.0 Wh");
  EXPECT_EQ(EnergyText(4'320'000'000), "1.2 kWh");
}

}  // namespace
}  // namespace muster::cli
