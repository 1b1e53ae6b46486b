#include "agent/node/gpu_sample.h"

#include <gtest/gtest.h>

namespace muster::agent {
namespace {

TEST(GpuSampleTest, WhatWasReadIsTold) {
  topology::GpuReading gpu;
  gpu.uuid = "GPU-a";
  gpu.busy_percent = 0;
  gpu.memory_used = Bytes(600);
  gpu.uncorrected_ecc = 0;
  gpu.corrected_ecc = 17;
  gpu.xid = 79;
  gpu.xids = 2;
  gpu.power_mw = 305'500;
  gpu.celsius = -3;
  gpu.energy_mj = 1000;
  const wire::GpuSample sample = SampleOf(gpu);
  EXPECT_EQ(sample.gpu(), "GPU-a");
  EXPECT_TRUE(sample.has_busy()) << "an idle GPU tells that it is idle";
  EXPECT_EQ(sample.busy(), 0U);
  EXPECT_EQ(sample.memory_used(), 600U);
  EXPECT_TRUE(sample.has_uncorrected_ecc());
  EXPECT_EQ(sample.corrected_ecc(), 17U);
  EXPECT_EQ(sample.xid(), 79U);
  EXPECT_EQ(sample.xids(), 2U);
  EXPECT_EQ(sample.power(), 305'500U);
  EXPECT_EQ(sample.temperature(), -3);
  EXPECT_EQ(sample.energy(), 1000U);
}

TEST(GpuSampleTest, WhatTheLibraryCannotTellIsNotInTheMessage) {
  const wire::GpuSample sample = SampleOf(topology::GpuReading());
  EXPECT_FALSE(sample.has_busy());
  EXPECT_FALSE(sample.has_memory_used());
  EXPECT_FALSE(sample.has_uncorrected_ecc());
  EXPECT_FALSE(sample.has_corrected_ecc());
  EXPECT_FALSE(sample.has_xids());
  EXPECT_FALSE(sample.has_power());
  EXPECT_FALSE(sample.has_temperature());
  EXPECT_FALSE(sample.has_energy());
}

}  // namespace
}  // namespace muster::agent
