#include "scheduler/model/machine/gpu_work.h"

#include <gtest/gtest.h>

#include <chrono>
#include <optional>

namespace muster {
namespace {

using std::chrono::seconds;

TEST(GpuWorkTest, TwoGpusTogetherAreRatesOfOne) {
  GpuWork work{seconds(10), seconds(10), seconds(2), seconds(5), Bytes(4000), std::nullopt};
  work.Add({seconds(10), seconds(5), seconds(0), seconds(5), Bytes(2000), std::nullopt});
  const GpuRates rates = RatesOf(work).value();
  EXPECT_EQ(rates.counted, seconds(20));
  EXPECT_DOUBLE_EQ(rates.sm_active, 0.75);
  EXPECT_DOUBLE_EQ(rates.tensor_active, 0.1);
  EXPECT_DOUBLE_EQ(rates.dram_active, 0.5);
  EXPECT_DOUBLE_EQ(rates.nvlink.value(), 300);
  EXPECT_EQ(rates.pcie, std::nullopt) << "there is no link to count";
}

TEST(GpuWorkTest, NothingCountedIsNotZero) {
  EXPECT_EQ(RatesOf(GpuWork()), std::nullopt);
}

}  // namespace
}  // namespace muster
