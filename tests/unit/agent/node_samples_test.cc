#include "agent/node_samples.h"

#include <gtest/gtest.h>

#include <ctime>
#include <vector>

#include "agent/supervisor/attempt/reported_values.h"
#include "tests/unit/scheduler/runtime/temp_directory.h"

namespace muster::agent {
namespace {

// A GPU that is busy and clocks low.
class BusyMeter final : public topology::GpuMeter {
 public:
  std::vector<topology::GpuReading> Read() override {
    topology::GpuReading gpu;
    gpu.uuid = "GPU-a";
    gpu.busy_percent = 100;
    gpu.clock_mhz = 1395;
    return {gpu};
  }
};

class NodeSamplesTest : public ::testing::Test {
 protected:
  NodeSamplesTest() : state_(StateDirectory::Open(directory_ / "agent").value()) {}

  const TempDirectory directory_;
  const SystemClock clock_;
  const Machine machine_;
  StateDirectory state_;
  const AttemptKey key_{JobId(7), AttemptNumber(1)};
};

TEST_F(NodeSamplesTest, WhatAnAttemptUsedAndSaidIsToldAndOnceThatItIsGone) {
  NodeSamples samples(machine_, state_, clock_, {});
  ASSERT_TRUE(state_.MakeAttempt(key_).ok());
  samples.Take({});
  EXPECT_FALSE(samples.Tell().has_value()) << "there is nothing to tell";
  ReportedValues said;
  said.values = {{"loss", 0.5, Time(Duration(1)), 3}};
  ASSERT_TRUE(WriteReported(state_.Attempt(key_).Reported(), said).ok());
  samples.Take({{key_, {}}});
  const wire::UsageSamples told = samples.Tell().value();
  ASSERT_EQ(told.attempts_size(), 1);
  EXPECT_EQ(told.attempts(0).job(), 7U);
  ASSERT_EQ(told.attempts(0).reported_size(), 1);
  EXPECT_EQ(told.attempts(0).reported(0).last(), 0.5);
  EXPECT_EQ(told.attempts(0).ranks_size(), 0);
  samples.Take({});
  ASSERT_TRUE(samples.Tell().has_value());
  EXPECT_FALSE(samples.Tell().has_value());
}

TEST_F(NodeSamplesTest, AGpuIsToldAtOnceAndItsPaceFromTheSecondLookOn) {
  BusyMeter meter;
  NodeSamples samples(machine_, state_, clock_, {.gpus = &meter});
  samples.Take({});
  EXPECT_FALSE(samples.Tell().value().gpus(0).has_pace());
  timespec pause{0, 5'000'000};
  nanosleep(&pause, nullptr);
  samples.Take({});
  const wire::UsageSamples told = samples.Tell().value();
  EXPECT_EQ(told.gpus(0).busy(), 100U);
  EXPECT_EQ(told.gpus(0).pace().clock_mhz(), 1395U);
  EXPECT_FALSE(told.gpus(0).pace().has_brakes());
}

}  // namespace
}  // namespace muster::agent
