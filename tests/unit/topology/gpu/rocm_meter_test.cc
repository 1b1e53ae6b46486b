#include "topology/gpu/rocm_meter.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/unit/scheduler/runtime/temp_directory.h"
#include "topology/gpu/gpu_rocm.h"
#include "topology/gpu/rocm_smi.h"

namespace muster::topology {
namespace {

class RocmMeterTest : public ::testing::Test {
 protected:
  ~RocmMeterTest() override { unsetenv("MUSTER_FAKE_ROCM_SMI_JSON"); }
  std::unique_ptr<GpuMeter> OpenFake(const std::string& json) {
    std::ofstream(directory_ / "gpus.json") << json;
    setenv("MUSTER_FAKE_ROCM_SMI_JSON", (directory_ / "gpus.json").c_str(), 1);
    return RocmSmiLibrary().OpenMeter(FAKE_ROCM_SMI);
  }

 private:
  TempDirectory directory_;
};

TEST_F(RocmMeterTest, TheProcessesOfEachGpuAreListed) {
  const std::unique_ptr<GpuMeter> meter = OpenFake(R"({"devices": [
    {"name": "MI300X", "memory": 1000, "unique_id": "c0ffee", "pci": [0, 1, 0, 0], "busy": 0},
    {"name": "MI300X", "memory": 1000, "unique_id": "decaf", "pci": [0, 2, 0, 0], "busy": 0}],
    "processes": [{"pid": 4711, "memory": 60, "gpus": [1]}, {"pid": 4712, "gpus": []}]})");
  ASSERT_NE(meter, nullptr);
  const std::vector<GpuProcess> processes = meter->Processes();
  ASSERT_EQ(processes.size(), 1U);
  EXPECT_EQ(processes[0].uuid, "GPU-00000000000decaf");
  EXPECT_EQ(processes[0].pid, 4711U);
  EXPECT_EQ(processes[0].memory, Bytes(60));
  EXPECT_FALSE(processes[0].draws);
}

TEST_F(RocmMeterTest, ReadsWhatEachGpuDoesAndTakes) {
  const std::unique_ptr<GpuMeter> meter = OpenFake(R"({"devices": [
    {"name": "MI300X", "memory": 1000, "unique_id": "c0ffee", "pci": [0, 1, 0, 0],
     "used": 600, "busy": 40, "memory_busy": 7, "power": 305500000, "average_power": 1, "energy": 1000000,
     "temperatures": {"0": 44999, "1": 60000}, "errors": {"1": [5, 1], "4": [2, 3]}},
    {"name": "MI300X", "memory": 1000, "unique_id": "decaf", "pci": [0, 2, 0, 0],
     "average_power": 90000000, "temperatures": {"1": 51000}}]})");
  ASSERT_NE(meter, nullptr);
  const std::vector<GpuReading> readings = meter->Read();
  ASSERT_EQ(readings.size(), 2U);
  EXPECT_EQ(readings[0].uuid, "GPU-0000000000c0ffee") << "as the GPU is listed";
  EXPECT_EQ(readings[0].busy_percent, 40U);
  EXPECT_EQ(readings[0].memory_busy_percent, 7U);
  EXPECT_EQ(readings[0].memory_used, Bytes(600));
  EXPECT_EQ(readings[0].energy_mj, 15300U);
  EXPECT_EQ(readings[0].power_mw, 305500U);
  EXPECT_EQ(readings[0].celsius, 44);
  EXPECT_EQ(readings[0].corrected_ecc, 7U) << "of all its parts";
  EXPECT_EQ(readings[0].uncorrected_ecc, 4U);
  EXPECT_EQ(readings[1].power_mw, 90000U) << "an older library tells the average alone";
  EXPECT_EQ(readings[1].celsius, 51) << "it has no sensor at its edge";
}

TEST_F(RocmMeterTest, WhatTheLibraryDoesNotTellIsNotNothing) {
  const std::unique_ptr<GpuMeter> meter = OpenFake(R"({"devices": [
    {"name": "MI300X", "memory": 1000, "unique_id": "c0ffee", "pci": [0, 1, 0, 0]}]})");
  ASSERT_NE(meter, nullptr);
  const GpuReading reading = meter->Read().at(0);
  EXPECT_EQ(reading.busy_percent, std::nullopt);
  EXPECT_EQ(reading.memory_used, std::nullopt);
  EXPECT_EQ(reading.energy_mj, 0U);
  EXPECT_EQ(reading.power_mw, std::nullopt);
  EXPECT_EQ(reading.celsius, std::nullopt);
  EXPECT_EQ(reading.corrected_ecc, std::nullopt);
  EXPECT_EQ(reading.uncorrected_ecc, std::nullopt);
  EXPECT_EQ(reading.xids, std::nullopt) << "those are NVIDIA's";
  EXPECT_FALSE(reading.lost);
}

TEST_F(RocmMeterTest, NoLibraryNoDriverAndNoGpuIsNoMeter) {
  EXPECT_EQ(RocmSmiLibrary().OpenMeter(""), nullptr);
  EXPECT_EQ(RocmSmiLibrary().OpenMeter("libthere-is-no-such-rocm_smi.so"), nullptr);
  EXPECT_EQ(RocmSmiLibrary().OpenMeter("libc.so.6"), nullptr);
  EXPECT_EQ(OpenFake(R"({"init": 8, "devices": []})"), nullptr);
  EXPECT_EQ(OpenFake(R"({"devices": []})"), nullptr);
  EXPECT_EQ(OpenRocmMeter("libc.so.6", {Gpu()}), nullptr);
  EXPECT_FALSE(rocm::RocmSmi("libthere-is-no-such-rocm_smi.so").loaded());
}

}  // namespace
}  // namespace muster::topology
