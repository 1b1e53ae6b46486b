#include "topology/gpu/gpu_rocm.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <fstream>
#include <string>
#include <vector>

#include "tests/unit/scheduler/runtime/temp_directory.h"
#include "topology/gpu/libraries.h"

namespace muster::topology {
namespace {

class GpuRocm : public ::testing::Test {
 protected:
  ~GpuRocm() override {
    unsetenv("MUSTER_FAKE_ROCM_SMI_JSON");
    unsetenv("MUSTER_ROCM_SMI");
  }
  GpuListing ReadFake(const std::string& json) {
    std::ofstream(directory_ / "gpus.json") << json;
    setenv("MUSTER_FAKE_ROCM_SMI_JSON", (directory_ / "gpus.json").c_str(), 1);
    return RocmSmiLibrary().List(FAKE_ROCM_SMI);
  }
  TempDirectory directory_;
};

TEST_F(GpuRocm, AMachineWithoutTheLibraryHasNoGpusAndSaysNothing) {
  const GpuListing reading = RocmSmiLibrary().List("libthere-is-no-such-rocm_smi.so");
  EXPECT_TRUE(reading.gpus.empty());
  EXPECT_TRUE(reading.remarks.empty());
}

TEST_F(GpuRocm, ALibraryThatSomebodyAskedForMustLoad) {
  const GpuListing reading = RocmSmiLibrary().List("/absent/librocm_smi64.so");
  ASSERT_EQ(reading.remarks.size(), 1U);
  EXPECT_EQ(reading.remarks[0],
            "/absent/librocm_smi64.so: ROCm SMI does not load, so no AMD GPUs are seen");
}

TEST_F(GpuRocm, ALibraryThatIsNotRocmSmiIsARemark) {
  const GpuListing reading = RocmSmiLibrary().List("libc.so.6");
  EXPECT_TRUE(reading.gpus.empty());
  ASSERT_EQ(reading.remarks.size(), 1U);
  EXPECT_NE(reading.remarks[0].find("it has no rsmi"), std::string::npos);
}

TEST_F(GpuRocm, ALibraryThatDoesNotStartIsARemark) {
  const GpuListing reading = ReadFake(R"({"init": 8, "devices": []})");
  EXPECT_TRUE(reading.gpus.empty());
  ASSERT_EQ(reading.remarks.size(), 1U);
  EXPECT_NE(reading.remarks[0].find("RSMI_STATUS_INIT_ERROR"), std::string::npos);
}

TEST_F(GpuRocm, TheEnvironmentNamesTheLibrary) {
  EXPECT_EQ(LibraryFile(RocmSmiLibrary()), "librocm_smi64.so");
  setenv("MUSTER_ROCM_SMI", "/elsewhere.so", 1);
  EXPECT_EQ(LibraryFile(RocmSmiLibrary()), "/elsewhere.so");
  setenv("MUSTER_ROCM_SMI", "", 1);
  EXPECT_TRUE(RocmSmiLibrary().List(LibraryFile(RocmSmiLibrary())).gpus.empty());
  EXPECT_TRUE(RocmSmiLibrary().List(LibraryFile(RocmSmiLibrary())).remarks.empty());
}

TEST_F(GpuRocm, ReadsWhatTheLibrarySays) {
  const GpuListing reading = ReadFake(
      R"({"devices": [
        {"name": "AMD Instinct MI300X", "memory": 206141652992, "unique_id": "1aa5d4a3f0c0d64c",
         "pci": [0, 193, 0, 0], "numa": 1},
        {"name": "AMD Instinct MI300X", "memory": 206141652992, "unique_id": "c0ffee",
         "pci": [65537, 5, 31, 1]}]})");
  EXPECT_TRUE(reading.remarks.empty());
  ASSERT_EQ(reading.gpus.size(), 2U);
  EXPECT_EQ(reading.gpus[0], (Gpu{0, "GPU-1aa5d4a3f0c0d64c", "AMD Instinct MI300X", "0000:c1:00.0",
                                  Bytes(206141652992), kNowhere, GpuVendor::kAmd, "", ""}));
  EXPECT_EQ(reading.gpus[1].os_index, 1U);
  EXPECT_EQ(reading.gpus[1].uuid, "GPU-0000000000c0ffee") << "ROCR_VISIBLE_DEVICES wants 16 digits";
  EXPECT_EQ(reading.gpus[1].pci_address, "10001:05:1f.1");
  EXPECT_EQ(reading.numa_told, (std::vector<std::optional<std::uint32_t>>{1, std::nullopt}));
}

TEST_F(GpuRocm, APartitionIsNoPciFunction) {
  const GpuListing reading = ReadFake(
      R"({"devices": [
        {"name": "MI300X", "memory": 1, "unique_id": "a", "pci": [0, 193, 0, 0], "partition": 0},
        {"name": "MI300X", "memory": 1, "unique_id": "a", "pci": [0, 193, 0, 3], "partition": 3}]})");
  ASSERT_EQ(reading.gpus.size(), 2U);
  EXPECT_EQ(reading.gpus[0].pci_address, "0000:c1:00.0");
  EXPECT_EQ(reading.gpus[1].pci_address, "0000:c1:00.0");
  EXPECT_NE(reading.gpus[0].uuid, reading.gpus[1].uuid);
  ASSERT_EQ(reading.remarks.size(), 1U);
  EXPECT_NE(reading.remarks[0].find("no unique id of its own"), std::string::npos);
}

TEST_F(GpuRocm, AGpuWithoutAUniqueIdIsNamedByItsPlaceAndSaysSo) {
  const GpuListing reading = ReadFake(
      R"({"devices": [{"name": "Radeon", "memory": 1, "pci": [0, 3, 0, 0]},
                      {"name": "Radeon", "memory": 1, "unique_id": "0", "pci": [0, 4, 0, 0]}]})");
  ASSERT_EQ(reading.gpus.size(), 2U);
  EXPECT_EQ(reading.gpus[0].uuid, "AMD-0-0000:03:00.0");
  EXPECT_EQ(reading.gpus[1].uuid, "AMD-1-0000:04:00.0");
  EXPECT_EQ(reading.remarks.size(), 2U);
}

TEST_F(GpuRocm, OnlyXgmiIsALinkAndItsBandwidthIsKeptWhereItIsTold) {
  const GpuListing reading = ReadFake(
      R"({"devices": [
        {"name": "MI250X", "memory": 1, "unique_id": "1", "pci": [0, 1, 0, 0],
         "xgmi": {"1": [50000, 200000], "3": null}},
        {"name": "MI250X", "memory": 1, "unique_id": "2", "pci": [0, 2, 0, 0], "error": 2},
        {"name": "MI250X", "memory": 1, "unique_id": "3", "pci": [0, 3, 0, 0],
         "xgmi": {"3": [50000, 100000]}},
        {"name": "MI250X", "memory": 1, "unique_id": "4", "pci": [0, 4, 0, 0]}]})");
  ASSERT_EQ(reading.gpus.size(), 3U) << "device 1 is left out";
  EXPECT_EQ(reading.links, (std::vector<DeviceLink>{{0, 2, LinkKind::kNvLink, 0, 0},
                                                    {1, 2, LinkKind::kNvLink, 0, 100'000}}));
  EXPECT_EQ(reading.remarks,
            std::vector<std::string>{"AMD GPU 1 is left out: RSMI_STATUS_NOT_SUPPORTED"});
}

}  // namespace
}  // namespace muster::topology
