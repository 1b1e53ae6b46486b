#include "agent/usage_sampler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/unit/scheduler/runtime/temp_directory.h"

namespace muster {
namespace {

using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Says what the test has it say.
class SaidMeter final : public GpuMeter {
 public:
  std::vector<GpuReading> Read() override { return said; }
  std::vector<GpuReading> said;
};

class UsageSamplerTest : public ::testing::Test {
 protected:
  UsageSamplerTest() {
    machine_.gpus.resize(2);
    machine_.gpus[0].uuid = "GPU-a";
    machine_.gpus[1].uuid = "GPU-b";
    meter_.said = {{"GPU-a", 50, Bytes(10), 5000, false}, {"GPU-b", 100, Bytes(20), 9000, false}};
    state_ = std::make_unique<StateDirectory>(StateDirectory::Open(directory_ / "agent").value());
  }
  // A part of this node with those shares of its GPUs.
  static NodeAllocation Part(std::vector<GpuGrant> gpus) {
    NodeAllocation part;
    part.gpus = std::move(gpus);
    return part;
  }
  SampledUsage Sum(const AttemptKey& key) {
    return ReadSampledUsage(state_->Attempt(key).Sampled());
  }
  void Make(const AttemptKey& key) { ASSERT_TRUE(state_->MakeAttempt(key).ok()); }

  TempDirectory directory_;
  Machine machine_;
  SaidMeter meter_;
  std::unique_ptr<StateDirectory> state_;
  const AttemptKey one_{JobId(1), AttemptNumber(1)};
  const AttemptKey two_{JobId(2), AttemptNumber(1)};
  const SteadyTime start_ = SteadyTime(std::chrono::hours(1));
};

TEST_F(UsageSamplerTest, WhatGpusDoBetweenSamplesIsTheirJobs) {
  UsageSampler sampler(machine_, *state_, meter_);
  const NodeAllocation part = Part({{0}, {1}});
  Make(one_);
  sampler.Sample({{one_, &part}}, start_);
  EXPECT_EQ(Sum(one_), SampledUsage()) << "what was before is nobody's";
  meter_.said[0].energy_mj += 700;
  meter_.said[1].energy_mj += 300;
  sampler.Sample({{one_, &part}}, start_ + seconds(10));
  EXPECT_EQ(Sum(one_), (SampledUsage{15'000, 20, 1000}));
  meter_.said[1].memory_used = Bytes(5);
  sampler.Sample({{one_, &part}}, start_ + seconds(12));
  EXPECT_EQ(Sum(one_), (SampledUsage{18'000, 20, 1000}));
}

TEST_F(UsageSamplerTest, JobsThatShareAGpuShareWhatItDoes) {
  UsageSampler sampler(machine_, *state_, meter_);
  const NodeAllocation quarter = Part({{1, GpuShare(250)}});
  const NodeAllocation rest = Part({{1, GpuShare(750)}});
  Make(one_);
  Make(two_);
  sampler.Sample({{one_, &quarter}, {two_, &rest}}, start_);
  meter_.said[1].energy_mj += 1000;
  sampler.Sample({{one_, &quarter}, {two_, &rest}}, start_ + seconds(4));
  EXPECT_EQ(Sum(one_), (SampledUsage{1000, 20, 250}));
  EXPECT_EQ(Sum(two_), (SampledUsage{3000, 20, 750}));
}

TEST_F(UsageSamplerTest, AJobThatCameSinceTheLastSampleIsNotChargedForBefore) {
  UsageSampler sampler(machine_, *state_, meter_);
  sampler.Sample({}, start_);
  const NodeAllocation part = Part({{0}});
  Make(one_);
  sampler.Sample({{one_, &part}}, start_ + seconds(10));
  EXPECT_EQ(Sum(one_), SampledUsage());
}

TEST_F(UsageSamplerTest, TheNextAgentGoesOnFromWhatWasSampled) {
  const NodeAllocation part = Part({{0}});
  Make(one_);
  for (int agent = 0; agent < 2; ++agent) {
    UsageSampler sampler(machine_, *state_, meter_);
    sampler.Sample({{one_, &part}}, start_);
    sampler.Sample({{one_, &part}}, start_ + seconds(2));
  }
  EXPECT_EQ(Sum(one_).gpu_busy_ms, 2000U);
}

TEST_F(UsageSamplerTest, ADriverThatCountsAnewTakesNothingAway) {
  UsageSampler sampler(machine_, *state_, meter_);
  const NodeAllocation part = Part({{0}});
  Make(one_);
  sampler.Sample({{one_, &part}}, start_);
  meter_.said[0].energy_mj += 100;
  sampler.Sample({{one_, &part}}, start_ + seconds(1));
  meter_.said[0].energy_mj = 3;
  sampler.Sample({{one_, &part}}, start_ + seconds(2));
  EXPECT_EQ(Sum(one_).gpu_energy_mj, 100U);
}

TEST_F(UsageSamplerTest, AGpuThatFallsOffTheBusIsToldOnce) {
  UsageSampler sampler(machine_, *state_, meter_);
  EXPECT_THAT(sampler.Sample({}, start_), IsEmpty());
  meter_.said[1].lost = true;
  EXPECT_THAT(sampler.Sample({}, start_ + seconds(1)), ElementsAre("GPU-b"));
  EXPECT_THAT(sampler.Sample({}, start_ + seconds(2)), IsEmpty());
}

TEST(SampledUsage, AFileThatIsNoSampleIsNothingSampled) {
  const TempDirectory directory;
  const std::string path = directory / "sampled";
  EXPECT_EQ(ReadSampledUsage(path), SampledUsage());
  WriteSampledUsage(path, {1, 2, 3});
  EXPECT_EQ(ReadSampledUsage(path), (SampledUsage{1, 2, 3}));
  for (const char* text : {"", "1 2", "1 2 x", "1 2 3 4", "-1 2 3"}) {
    std::ofstream(path) << text;
    EXPECT_EQ(ReadSampledUsage(path), SampledUsage()) << text;
  }
}

}  // namespace
}  // namespace muster
