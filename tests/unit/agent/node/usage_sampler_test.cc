#include "agent/node/usage_sampler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "tests/unit/agent/node/usage_sampler_fixture.h"

namespace muster::agent {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::IsEmpty;

Usage GpuUse(int busy_ms, int memory, int energy_mj, int watched_ms = 0) {
  Usage usage;
  usage.gpu_watched = Duration(watched_ms);
  usage.gpu_busy = Duration(busy_ms);
  usage.gpu_memory = Bytes(static_cast<std::uint64_t>(memory));
  usage.gpu_energy_mj = static_cast<std::uint64_t>(energy_mj);
  return usage;
}

class UsageSamplerTest : public UsageSamplerFixture {};

TEST_F(UsageSamplerTest, GpusAreToldWithoutAJobAndAsTheyAreNow) {
  UsageSampler sampler(machine_, *state_, {.gpus = &meter_});
  EXPECT_THAT(sampler.gpus(), IsEmpty()) << "nothing was looked at yet";
  sampler.Sample({}, start_);
  meter_.said[1].power_mw = 700;
  sampler.Sample({}, start_ + seconds(10));
  const std::vector<topology::GpuReading> gpus = sampler.gpus();
  ASSERT_EQ(gpus.size(), 2U);
  EXPECT_EQ(gpus[0].uuid, "GPU-a");
  EXPECT_EQ(gpus[0].power_mw, std::nullopt);
  EXPECT_EQ(gpus[1].power_mw, 700U);
  UsageSampler none(machine_, *state_, {});
  none.Sample({}, start_);
  EXPECT_THAT(none.gpus(), IsEmpty()) << "a node without a meter tells nothing";
}

TEST_F(UsageSamplerTest, WhatGpusDoBetweenSamplesIsTheirJobs) {
  UsageSampler sampler(machine_, *state_, {.gpus = &meter_});
  const NodeAllocation part = Part({{0}, {1}});
  Make(one_);
  sampler.Sample({{one_, {&part}}}, start_);
  EXPECT_EQ(Sum(one_), Usage()) << "what was before is nobody's";
  meter_.said[0].energy_mj += 700;
  meter_.said[1].energy_mj += 300;
  sampler.Sample({{one_, {&part}}}, start_ + seconds(10));
  EXPECT_EQ(Sum(one_), GpuUse(0, 20, 1000)) << "one look says not how busy they were";
  meter_.said[1].memory_used = Bytes(5);
  sampler.Sample({{one_, {&part}}}, start_ + seconds(12));
  EXPECT_EQ(Sum(one_), GpuUse(18'000, 20, 1000, 24'000)) << "two GPUs for twelve seconds";
}

TEST_F(UsageSamplerTest, JobsThatShareAGpuShareWhatItDoes) {
  UsageSampler sampler(machine_, *state_, {.gpus = &meter_});
  const NodeAllocation quarter = Part({{1, GpuShare(250)}});
  const NodeAllocation rest = Part({{1, GpuShare(750)}});
  Make(one_);
  Make(two_);
  sampler.Sample({{one_, {&quarter}}, {two_, {&rest}}}, start_);
  meter_.said[1].energy_mj += 1000;
  sampler.Sample({{one_, {&quarter}}, {two_, {&rest}}}, start_ + seconds(2));
  sampler.Sample({{one_, {&quarter}}, {two_, {&rest}}}, start_ + seconds(4));
  EXPECT_EQ(Sum(one_), GpuUse(1000, 20, 250, 1000));
  EXPECT_EQ(Sum(two_), GpuUse(3000, 20, 750, 3000));
}

TEST_F(UsageSamplerTest, AJobThatCameSinceTheLastSampleIsNotChargedForBefore) {
  UsageSampler sampler(machine_, *state_, {.gpus = &meter_});
  sampler.Sample({}, start_);
  const NodeAllocation part = Part({{0}});
  Make(one_);
  sampler.Sample({{one_, {&part}}}, start_ + seconds(10));
  EXPECT_EQ(Sum(one_), Usage());
}

TEST_F(UsageSamplerTest, TheNextAgentGoesOnFromWhatWasSampled) {
  const NodeAllocation part = Part({{0}});
  Make(one_);
  for (int agent = 0; agent < 2; ++agent) {
    UsageSampler sampler(machine_, *state_, {.gpus = &meter_});
    sampler.Sample({{one_, {&part}}}, start_);
    sampler.Sample({{one_, {&part}}}, start_ + seconds(2));
    sampler.Sample({{one_, {&part}}}, start_ + seconds(4));
  }
  EXPECT_EQ(Sum(one_).gpu_busy, seconds(4));
}

TEST_F(UsageSamplerTest, GpusThatWereIdleAtEachLookAreNotThoseOfWhichNobodyKnows) {
  UsageSampler sampler(machine_, *state_, {.gpus = &meter_});
  const NodeAllocation first = Part({{0}});
  const NodeAllocation second = Part({{1}});
  Make(one_);
  Make(two_);
  meter_.said[0].busy_percent = 0;
  meter_.said[1].busy_percent = std::nullopt;
  for (int i = 0; i < 4; ++i) {
    sampler.Sample({{one_, {&first}}, {two_, {&second}}}, start_ + seconds(10 * i));
  }
  EXPECT_EQ(Sum(one_), GpuUse(1, 10, 0, 30'000));
  EXPECT_EQ(Sum(two_), GpuUse(0, 20, 0)) << "memory is known of a GPU that MIG divides";
}

TEST_F(UsageSamplerTest, CountersCountForTheirTimeAndTheJobsPartOfTheGpu) {
  UsageSampler sampler(machine_, *state_, {.gpus = &meter_});
  const NodeAllocation whole = Part({{0}});
  const NodeAllocation half = Part({{1, GpuShare(500)}});
  Make(one_);
  Make(two_);
  const UsageSampler::Running both = {{one_, {&whole}}, {two_, {&half}}};
  sampler.Sample(both, start_);
  meter_.said[0].memory_busy_percent = 20;
  meter_.said[0].counters = {.sm_active = 0.5, .dram_active = 1, .nvlink = 1000, .pcie = {}};
  sampler.Sample(both, start_ + seconds(4));
  meter_.said[0].counters = {.sm_active = 1, .dram_active = 0, .nvlink = 500, .pcie = 10};
  meter_.said[1].counters = {.sm_active = 0.25};
  sampler.Sample(both, start_ + seconds(6));
  const Usage used = Sum(one_);
  EXPECT_EQ(used.gpu_counted, seconds(6));
  EXPECT_EQ(used.sm_active, seconds(4)) << "half of four seconds, and two";
  EXPECT_EQ(used.tensor_active, seconds(0)) << "it was told, and none worked";
  EXPECT_EQ(used.dram_active, seconds(4));
  EXPECT_EQ(used.nvlink_bytes, Bytes(5000));
  EXPECT_EQ(used.pcie_bytes, Bytes(20)) << "for as long as it was told";
  EXPECT_EQ(used.gpu_memory_busy, milliseconds(1200));
  EXPECT_EQ(Sum(two_).gpu_counted, seconds(1));
  EXPECT_EQ(Sum(two_).sm_active, milliseconds(250));
  EXPECT_EQ(Sum(two_).pcie_bytes, std::nullopt);
  EXPECT_EQ(Sum(two_).gpu_memory_busy, std::nullopt);
}

TEST_F(UsageSamplerTest, YoungJobsWithGpusAreLookedAtMoreOftenThanOthers) {
  UsageSampler sampler(machine_, *state_, {.gpus = &meter_});
  const NodeAllocation gpu = Part({{0}});
  const NodeAllocation none = Part({});
  Make(one_);
  Make(two_);
  const Duration every = seconds(10);
  sampler.Sample({{two_, {&none}}}, start_);
  EXPECT_EQ(sampler.NextIn(every, start_), every) << "the kernel counts what processes do";
  const UsageSampler::Running both = {{one_, {&gpu}}, {two_, {&none}}};
  sampler.Sample(both, start_);
  EXPECT_EQ(sampler.NextIn(every, start_), seconds(1));
  EXPECT_EQ(sampler.NextIn(every, start_ + seconds(8)), seconds(1));
  EXPECT_EQ(sampler.NextIn(every, start_ + seconds(40)), seconds(5));
  EXPECT_EQ(sampler.NextIn(every, start_ + seconds(800)), every);
  sampler.Sample({{two_, {&none}}}, start_ + seconds(1));
  EXPECT_EQ(sampler.NextIn(every, start_ + seconds(1)), every) << "it has ended";
}

TEST_F(UsageSamplerTest, AnEightSecondJobIsKnownForMostOfItsTime) {
  UsageSampler sampler(machine_, *state_, {.gpus = &meter_});
  const NodeAllocation part = Part({{1}});
  Make(one_);
  Duration at = milliseconds(700);  // the first look comes within a second of its start
  while (at < seconds(8)) {
    sampler.Sample({{one_, {&part}}}, start_ + at);
    at += sampler.NextIn(seconds(10), start_ + at);
  }
  EXPECT_EQ(Sum(one_).gpu_watched, seconds(7));
  EXPECT_EQ(Sum(one_).gpu_busy, seconds(7));
}

TEST_F(UsageSamplerTest, ADriverThatCountsAnewTakesNothingAway) {
  UsageSampler sampler(machine_, *state_, {.gpus = &meter_});
  const NodeAllocation part = Part({{0}});
  Make(one_);
  sampler.Sample({{one_, {&part}}}, start_);
  meter_.said[0].energy_mj += 100;
  sampler.Sample({{one_, {&part}}}, start_ + seconds(1));
  meter_.said[0].energy_mj = 3;
  sampler.Sample({{one_, {&part}}}, start_ + seconds(2));
  EXPECT_EQ(Sum(one_).gpu_energy_mj, 100U);
}

}  // namespace
}  // namespace muster::agent
