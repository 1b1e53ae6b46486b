#include "topology/gpu/libraries.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <fstream>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tests/unit/scheduler/runtime/temp_directory.h"
#include "topology/gpu/gpu_nvml.h"
#include "topology/gpu/gpu_rocm.h"
#include "topology/gpu/library.h"

namespace muster::topology {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class GpuLibrariesTest : public ::testing::Test {
 protected:
  GpuLibrariesTest() {
    setenv("MUSTER_NVML", "", 1);
    setenv("MUSTER_ROCM_SMI", "", 1);
  }
  ~GpuLibrariesTest() override {
    for (const char* name :
         {"MUSTER_NVML", "MUSTER_ROCM_SMI", "MUSTER_FAKE_NVML_JSON", "MUSTER_FAKE_ROCM_SMI_JSON"}) {
      unsetenv(name);
    }
  }
  void FakeNvidias() {
    setenv("MUSTER_NVML", FAKE_NVML, 1);
    setenv("MUSTER_FAKE_NVML_JSON",
           Write("nvml", R"({"devices": [{"uuid": "GPU-a", "name": "H200", "pci": [0, 1, 0],
                                          "memory": 100, "busy": 40}]})")
               .c_str(),
           1);
  }
  void FakeAmds() {
    setenv("MUSTER_ROCM_SMI", FAKE_ROCM_SMI, 1);
    setenv("MUSTER_FAKE_ROCM_SMI_JSON",
           Write("rocm", R"({"devices": [{"name": "MI300X", "memory": 1, "unique_id": "a",
                                          "pci": [0, 2, 0, 0]}]})")
               .c_str(),
           1);
  }

 private:
  std::string Write(const std::string& name, const std::string& json) {
    std::ofstream(directory_ / name) << json;
    return directory_ / name;
  }
  TempDirectory directory_;
};

TEST_F(GpuLibrariesTest, EachVendorStandsOnceAndSharesNoNameWithAnother) {
  std::set<GpuVendor> vendors;
  std::set<std::string_view> words;
  for (const GpuLibrary* library : GpuLibraries()) {
    const GpuFacts& facts = library->facts();
    EXPECT_TRUE(vendors.insert(facts.vendor).second);
    for (const std::string_view word : {facts.library, facts.variable, facts.file, facts.visible}) {
      EXPECT_TRUE(words.insert(word).second) << word;
    }
    EXPECT_EQ(&GpuLibraryOf(facts.vendor), library);
  }
}

TEST_F(GpuLibrariesTest, TheVariableThatShowsGpusIsDroppedFromASubmittersShell) {
  for (const GpuLibrary* library : GpuLibraries()) {
    EXPECT_THAT(library->facts().stale, ::testing::Contains(library->facts().visible));
  }
}

TEST_F(GpuLibrariesTest, EveryLibraryListsItsOwnGpusUnderItsName) {
  FakeNvidias();
  FakeAmds();
  const std::vector<GpuListing> listings = ListGpus();
  ASSERT_EQ(listings.size(), 2U);
  EXPECT_EQ(listings[0].library, "NVML");
  EXPECT_EQ(listings[0].gpus.at(0).uuid, "GPU-a");
  EXPECT_EQ(listings[1].library, "ROCm SMI");
  EXPECT_EQ(listings[1].gpus.at(0).vendor, GpuVendor::kAmd);
}

TEST_F(GpuLibrariesTest, GpusOfAllVendorsAreRead) {
  EXPECT_EQ(OpenGpuMeter(), nullptr);
  FakeAmds();
  ASSERT_NE(OpenGpuMeter(), nullptr) << "ROCm SMI alone";
  FakeNvidias();
  const std::unique_ptr<GpuMeter> meter = OpenGpuMeter();
  ASSERT_NE(meter, nullptr);
  const std::vector<GpuReading> readings = meter->Read();
  ASSERT_GE(readings.size(), 2U);
  EXPECT_EQ(readings[0].uuid, "GPU-a");
  EXPECT_EQ(readings[0].busy_percent, 40U);
  EXPECT_EQ(readings[1].uuid, "GPU-000000000000000a");
}

TEST_F(GpuLibrariesTest, AGpusLibraryIsThatOfItsVendor) {
  Machine machine;
  machine.gpus.resize(2);
  machine.gpus[0].uuid = "GPU-a";
  machine.gpus[1].uuid = "GPU-00aa";
  machine.gpus[1].vendor = GpuVendor::kAmd;
  EXPECT_EQ(LibraryOfGpu(machine, "GPU-a"), "NVML");
  EXPECT_EQ(LibraryOfGpu(machine, "GPU-00aa"), "ROCm SMI");
  EXPECT_EQ(LibraryOfGpu(machine, "GPU-divided"), "NVML") << "only NVML lists parts alone";
}

TEST_F(GpuLibrariesTest, CudasVariablesAreAlwaysSetAndRocrsOnlyWhereAmdsGpusAre) {
  Machine machine;
  EXPECT_THAT(NvmlLibrary().Show(machine, ""),
              ElementsAre(GpuVariable{"CUDA_VISIBLE_DEVICES", ""},
                          GpuVariable{"CUDA_DEVICE_ORDER", "PCI_BUS_ID"}));
  EXPECT_THAT(RocmSmiLibrary().Show(machine, ""), IsEmpty());
  machine.gpus.resize(1);
  machine.gpus[0].vendor = GpuVendor::kAmd;
  EXPECT_THAT(RocmSmiLibrary().Show(machine, "GPU-00aa"),
              ElementsAre(GpuVariable{"ROCR_VISIBLE_DEVICES", "GPU-00aa"}));
}

TEST_F(GpuLibrariesTest, ANameIsWhatTheRuntimeOfTheVendorTakes) {
  Gpu gpu;
  EXPECT_FALSE(NvmlLibrary().TakesUuid(gpu));
  gpu.uuid = "AMD-0-0000:03:00.0";
  EXPECT_TRUE(NvmlLibrary().TakesUuid(gpu));
  EXPECT_FALSE(RocmSmiLibrary().TakesUuid(gpu)) << "it is made up";
  gpu.uuid = "GPU-00000000000000aa";
  EXPECT_TRUE(RocmSmiLibrary().TakesUuid(gpu));
}

TEST_F(GpuLibrariesTest, AShareIsHeldByCudasMpsAndByNothingOfAmds) {
  Machine machine;
  machine.gpus.resize(1);
  machine.gpus[0].memory = kGibibyte;
  EXPECT_THAT(NvmlLibrary().HoldTo(GpuShare(250), machine, 0),
              ElementsAre(GpuVariable{"CUDA_MPS_ACTIVE_THREAD_PERCENTAGE", "25"},
                          GpuVariable{"CUDA_MPS_PINNED_DEVICE_MEM_LIMIT", "0=255M"}));
  machine.mps = "/run/mps";
  EXPECT_THAT(NvmlLibrary().HoldTo(GpuShare(1), machine, 7),
              ElementsAre(GpuVariable{"CUDA_MPS_ACTIVE_THREAD_PERCENTAGE", "1"},
                          GpuVariable{"CUDA_MPS_PIPE_DIRECTORY", "/run/mps"}));
  EXPECT_THAT(RocmSmiLibrary().HoldTo(GpuShare(250), machine, 0), IsEmpty());
}

}  // namespace
}  // namespace muster::topology
