#include "topology/gpu/gpu_meter.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/unit/scheduler/runtime/temp_directory.h"
#include "topology/gpu/nvml_meter.h"

namespace muster::topology {
namespace {

class GpuMeterTest : public ::testing::Test {
 protected:
  ~GpuMeterTest() override { unsetenv("MUSTER_FAKE_NVML_JSON"); }
  std::unique_ptr<GpuMeter> OpenFake(const std::string& json) {
    std::ofstream(directory_ / "gpus.json") << json;
    setenv("MUSTER_FAKE_NVML_JSON", (directory_ / "gpus.json").c_str(), 1);
    return OpenNvmlMeter(FAKE_NVML);
  }

 private:
  TempDirectory directory_;
};

TEST_F(GpuMeterTest, ReadsWhatEachGpuDoesAndTakes) {
  const std::unique_ptr<GpuMeter> meter = OpenFake(R"({"devices": [
    {"uuid": "GPU-a", "pci": [0, 1, 0], "memory": 100, "used": 60, "busy": 40, "energy": 1000, "energy_step": 250},
    {"uuid": "GPU-b", "pci": [0, 2, 0], "memory": 100}]})");
  ASSERT_NE(meter, nullptr);
  std::vector<GpuReading> readings = meter->Read();
  ASSERT_EQ(readings.size(), 2U);
  EXPECT_EQ(readings[0].uuid, "GPU-a");
  EXPECT_EQ(readings[0].busy_percent, 40U);
  EXPECT_EQ(readings[0].memory_used, Bytes(60));
  EXPECT_EQ(readings[0].energy_mj, 1000U);
  EXPECT_EQ(readings[1].energy_mj, 0U) << "it cannot tell";
  readings = meter->Read();
  EXPECT_EQ(readings[0].energy_mj, 1250U);
  EXPECT_FALSE(readings[0].lost);
}

TEST_F(GpuMeterTest, WhatTheDriverReservedIsNotUsedWhereTheLibraryTellsThatApart) {
  const std::unique_ptr<GpuMeter> meter = OpenFake(R"({"devices": [
    {"uuid": "GPU-a", "pci": [0, 1, 0], "memory": 100, "used": 60, "reserved": 7},
    {"uuid": "GPU-b", "pci": [0, 2, 0], "memory": 100, "used": 60}]})");
  ASSERT_NE(meter, nullptr);
  const std::vector<GpuReading> readings = meter->Read();
  EXPECT_EQ(readings.at(0).memory_used, Bytes(53));
  EXPECT_EQ(readings.at(1).memory_used, Bytes(60));
}

TEST_F(GpuMeterTest, AGpuThatFellOffTheBusIsLostAndNotIdle) {
  const std::unique_ptr<GpuMeter> meter = OpenFake(
      R"({"devices": [{"uuid": "GPU-a", "pci": [0, 1, 0], "memory": 100, "memory_error": 15}]})");
  ASSERT_NE(meter, nullptr);
  EXPECT_TRUE(meter->Read().at(0).lost);
}

TEST_F(GpuMeterTest, ErrorsOfMemoryAndOfTheDriverAreRead) {
  const std::unique_ptr<GpuMeter> meter = OpenFake(R"({"devices": [
    {"uuid": "GPU-a", "pci": [0, 1, 0], "memory": 100, "ecc": 3, "xids": [31, 79]},
    {"uuid": "GPU-b", "pci": [0, 2, 0], "memory": 100}]})");
  ASSERT_NE(meter, nullptr);
  for (int look = 0; look < 2; ++look) {
    const std::vector<GpuReading> readings = meter->Read();
    EXPECT_EQ(readings.at(0).uncorrected_ecc, 3U);
    EXPECT_EQ(readings.at(0).xid, 79U);
    EXPECT_EQ(readings.at(0).xids, 2U) << "each is told once, and kept";
    EXPECT_EQ(readings.at(0).breaking_xid, 79U);
    EXPECT_EQ(readings.at(0).breaking_xids, 1U) << "31 is a program's own";
    EXPECT_EQ(readings.at(1).uncorrected_ecc, 0U);
    EXPECT_EQ(readings.at(1).xids, 0U);
  }
}

TEST_F(GpuMeterTest, AGlanceLeavesWhatIsCountedToTheNextReading) {
  const std::unique_ptr<GpuMeter> meter = OpenFake(R"({"devices": [
    {"uuid": "GPU-a", "pci": [0, 59, 0], "memory": 100, "busy": 40, "xids": [31],
     "gpm": [{}, {"2": 10, "5": 0, "10": 0}, {"2": 90, "5": 0, "10": 0}]}]})");
  ASSERT_NE(meter, nullptr);
  meter->Read();  // the second sample: one says whether the GPU gives any
  const GpuReading glance = meter->Glance().at(0);
  EXPECT_EQ(glance.busy_percent, 40U);
  EXPECT_EQ(glance.pci, "0000:3b:00");
  EXPECT_EQ(glance.xid_counts.at(31), 1U);
  EXPECT_FALSE(glance.counters.has_value());
  const GpuReading reading = meter->Read().at(0);
  ASSERT_TRUE(reading.counters.has_value());
  EXPECT_NEAR(reading.counters->sm_active, 0.1, 0.001);
  EXPECT_EQ(reading.xid_counts.at(31), 1U) << "it is told once";
}

TEST_F(GpuMeterTest, ClockBrakesAndLinksAreReadAndWhatIsNotToldIsNotNothing) {
  const std::unique_ptr<GpuMeter> meter = OpenFake(R"({"devices": [
    {"uuid": "GPU-a", "pci": [0, 1, 0], "memory": 100, "clock": 1395, "clock_most": 1980, "reasons": 36,
     "pcie": [5, 16], "nvlinks": ["switch", "switch", "switch"]},
    {"uuid": "GPU-b", "pci": [0, 2, 0], "memory": 100, "reasons": 1}]})");
  ASSERT_NE(meter, nullptr);
  const std::vector<GpuReading> readings = meter->Read();
  EXPECT_EQ(readings.at(0).clock_mhz, 1395U);
  EXPECT_EQ(readings.at(0).clock_most_mhz, 1980U);
  EXPECT_EQ(readings.at(0).brakes, kBrakePower | kBrakeHeat);
  EXPECT_EQ(readings.at(0).link, (GpuLink{5, 16, 3}));
  EXPECT_EQ(readings.at(1).clock_mhz, std::nullopt);
  EXPECT_EQ(readings.at(1).clock_most_mhz, std::nullopt);
  EXPECT_EQ(readings.at(1).brakes, 0U) << "that it is idle holds nothing down";
  EXPECT_EQ(readings.at(1).link, (GpuLink{std::nullopt, std::nullopt, 0}));
}

TEST_F(GpuMeterTest, PowerTemperatureAndErrorsAreReadAndWhatIsNotToldIsNotNothing) {
  const std::unique_ptr<GpuMeter> meter = OpenFake(R"({"devices": [
    {"uuid": "GPU-a", "pci": [0, 1, 0], "memory": 100, "power": 305500, "celsius": 41, "ecc": 0,
     "ecc_corrected": 17},
    {"uuid": "GPU-b", "pci": [0, 2, 0], "memory": 100, "ecc": null, "ecc_corrected": null,
     "memory_error": 3}]})");
  ASSERT_NE(meter, nullptr);
  const std::vector<GpuReading> readings = meter->Read();
  EXPECT_EQ(readings.at(0).power_mw, 305500U);
  EXPECT_EQ(readings.at(0).celsius, 41);
  EXPECT_EQ(readings.at(0).corrected_ecc, 17U);
  EXPECT_EQ(readings.at(0).uncorrected_ecc, 0U);
  EXPECT_EQ(readings.at(1).power_mw, std::nullopt);
  EXPECT_EQ(readings.at(1).celsius, std::nullopt);
  EXPECT_EQ(readings.at(1).corrected_ecc, std::nullopt);
  EXPECT_EQ(readings.at(1).uncorrected_ecc, std::nullopt);
  EXPECT_EQ(readings.at(1).memory_used, std::nullopt);
}

TEST_F(GpuMeterTest, CountersSayWhatTheGpuDidSinceTheReadingBefore) {
  const std::unique_ptr<GpuMeter> meter = OpenFake(R"({"devices": [
    {"uuid": "GPU-a", "pci": [0, 1, 0], "memory": 100, "busy": 100, "memory_busy": 30, "gpm": [
      {"2": 1, "5": 1, "10": 1},
      {"2": 97.5, "5": 40, "10": 85, "60": 100, "61": 50, "20": 1, "21": 3},
      {"2": 10, "5": 0, "10": 5, "60": 0, "61": 0}]},
    {"uuid": "GPU-b", "pci": [0, 2, 0], "memory": 100}]})");
  ASSERT_NE(meter, nullptr);
  EXPECT_FALSE(meter->Read().at(0).counters.has_value()) << "since when, nobody knows";
  const std::vector<GpuReading> readings = meter->Read();
  const std::optional<GpuCounters> counters = readings.at(0).counters;
  ASSERT_TRUE(counters.has_value());
  EXPECT_DOUBLE_EQ(counters->sm_active, 0.975);
  EXPECT_DOUBLE_EQ(counters->tensor_active, 0.4);
  EXPECT_DOUBLE_EQ(counters->dram_active, 0.85);
  EXPECT_EQ(counters->nvlink, 150.0 * (1 << 20));
  EXPECT_EQ(counters->pcie, 4.0 * (1 << 20));
  EXPECT_EQ(readings.at(0).memory_busy_percent, 30U);
  EXPECT_FALSE(readings.at(1).counters.has_value()) << "it has none";
  const std::optional<GpuCounters> later = meter->Read().at(0).counters;
  ASSERT_TRUE(later.has_value());
  EXPECT_DOUBLE_EQ(later->sm_active, 0.1);
  EXPECT_EQ(later->nvlink, 0.0);
  EXPECT_EQ(later->pcie, std::nullopt) << "what it does not tell is not nothing";
}

TEST_F(GpuMeterTest, TheProcessesOfEachGpuAndOfEachInstanceAreListed) {
  const std::unique_ptr<GpuMeter> meter = OpenFake(R"({"devices": [
    {"uuid": "GPU-a", "pci": [0, 1, 0], "memory": 100, "processes": [
      {"pid": 7, "memory": 60}, {"pid": 8, "memory": 5, "draws": true}, {"pid": 7, "draws": true}]},
    {"uuid": "GPU-b", "pci": [0, 2, 0], "memory": 100, "mig": true, "instances": [
      {"uuid": "MIG-c", "processes": [{"pid": 7}]}, null]}]})");
  ASSERT_NE(meter, nullptr);
  const std::vector<GpuProcess> processes = meter->Processes();
  ASSERT_EQ(processes.size(), 3U);
  EXPECT_EQ(processes[0].uuid, "GPU-a");
  EXPECT_EQ(processes[0].pid, 7U);
  EXPECT_EQ(processes[0].memory, Bytes(60));
  EXPECT_FALSE(processes[0].draws) << "it computes, too";
  EXPECT_EQ(processes[1].pid, 8U);
  EXPECT_TRUE(processes[1].draws);
  EXPECT_EQ(processes[2].uuid, "MIG-c");
  EXPECT_EQ(processes[2].memory, Bytes()) << "it cannot tell";
}

TEST_F(GpuMeterTest, NoLibraryNoDriverAndNoGpuIsNoMeter) {
  EXPECT_EQ(OpenNvmlMeter(""), nullptr);
  EXPECT_EQ(OpenNvmlMeter("libthere-is-no-such-nvml.so.1"), nullptr);
  EXPECT_EQ(OpenNvmlMeter("libc.so.6"), nullptr);
  EXPECT_EQ(OpenFake(R"({"init": 9, "devices": []})"), nullptr);
  EXPECT_EQ(OpenFake(R"({"devices": []})"), nullptr);
}

}  // namespace
}  // namespace muster::topology
