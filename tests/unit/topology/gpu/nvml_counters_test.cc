#include "topology/gpu/nvml_counters.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <fstream>
#include <memory>
#include <optional>
#include <string>

#include "tests/unit/scheduler/runtime/temp_directory.h"

namespace muster::topology {
namespace {

// One GPU of which the test says what it counts.
class NvmlCountersTest : public ::testing::Test {
 protected:
  ~NvmlCountersTest() override { unsetenv("MUSTER_FAKE_NVML_JSON"); }
  void Begin(const std::string& gpu) {
    std::ofstream(directory_ / "gpus.json")
        << R"({"devices": [{"uuid": "GPU-a", "pci": [0, 1, 0], "memory": 100, )" << gpu << "}]}";
    setenv("MUSTER_FAKE_NVML_JSON", (directory_ / "gpus.json").c_str(), 1);
    nvml_ = std::make_unique<nvml::Nvml>(FAKE_NVML);
    ASSERT_EQ(nvml_->Start(), "");
    nvml::Device device = nullptr;
    ASSERT_EQ(nvml_->handle(0, &device), nvml::kSuccess);
    counters_ = NvmlCounters::Open(*nvml_, device);
  }

  TempDirectory directory_;
  std::unique_ptr<nvml::Nvml> nvml_;
  std::unique_ptr<NvmlCounters> counters_;
};

TEST_F(NvmlCountersTest, EachReadingCoversTheTimeSinceTheOneBefore) {
  Begin(R"("gpm": [{"2": 1, "5": 2, "10": 3}, {"2": 50, "5": 20, "10": 5, "60": 1, "61": 2},
                   {"2": 100, "5": 0, "10": 0}])");
  ASSERT_NE(counters_, nullptr);
  EXPECT_FALSE(counters_->Read().has_value()) << "since when, nobody knows";
  const std::optional<GpuCounters> first = counters_->Read();
  ASSERT_TRUE(first.has_value());
  EXPECT_DOUBLE_EQ(first->sm_active, 0.5);
  EXPECT_DOUBLE_EQ(first->tensor_active, 0.2);
  EXPECT_DOUBLE_EQ(first->dram_active, 0.05);
  EXPECT_EQ(first->nvlink, 3.0 * (1 << 20));
  EXPECT_EQ(first->pcie, std::nullopt);
  const std::optional<GpuCounters> second = counters_->Read();
  ASSERT_TRUE(second.has_value());
  EXPECT_DOUBLE_EQ(second->sm_active, 1);
  EXPECT_EQ(second->nvlink, std::nullopt);
}

TEST_F(NvmlCountersTest, AGpuWithoutCountersHasNone) {
  Begin(R"("busy": 3)");
  EXPECT_EQ(counters_, nullptr);
}

TEST_F(NvmlCountersTest, AGpuThatSaysItHasCountersAndGivesNoSampleHasNone) {
  Begin(R"("gpm": [{"2": 1, "5": 1, "10": 1}], "gpm_result": 4)");
  EXPECT_EQ(counters_, nullptr);
}

TEST_F(NvmlCountersTest, WhatADividedGpuDoesIsNobodysAlone) {
  Begin(R"("gpm": [{"2": 1, "5": 1, "10": 1}], "mig": true)");
  EXPECT_EQ(counters_, nullptr);
}

TEST_F(NvmlCountersTest, SharesOfWhichOneIsNotToldAreNone) {
  Begin(R"("gpm": [{"2": 1, "10": 1}])");
  ASSERT_NE(counters_, nullptr);
  counters_->Read();
  EXPECT_FALSE(counters_->Read().has_value());
}

}  // namespace
}  // namespace muster::topology
