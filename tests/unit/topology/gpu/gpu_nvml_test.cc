#include "topology/gpu/gpu_nvml.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "scheduler/model/machine/machine_check.h"
#include "scheduler/runtime/file.h"
#include "tests/unit/scheduler/runtime/temp_directory.h"
#include "topology/gpu/libraries.h"
#include "topology/hwloc/hwloc_schema.h"
#include "topology/hwloc/hwloc_topology.h"
#include "topology/hwloc/inventory.h"
#include "topology/hwloc/pci_links.h"

namespace muster::topology {
namespace {

class GpuNvml : public ::testing::Test {
 protected:
  ~GpuNvml() override {
    unsetenv("MUSTER_FAKE_NVML_JSON");
    unsetenv("MUSTER_NVML");
  }
  GpuListing ReadFake(const std::string& json) {
    setenv("MUSTER_FAKE_NVML_JSON", Write(json).c_str(), 1);
    return NvmlLibrary().List(FAKE_NVML);
  }
  std::string Write(const std::string& json) {
    std::ofstream(directory_ / "gpus.json") << json;
    return directory_ / "gpus.json";
  }
  TempDirectory directory_;
};

TEST_F(GpuNvml, AMachineWithoutTheLibraryHasNoGpusAndSaysNothing) {
  const GpuListing reading = NvmlLibrary().List("libthere-is-no-such-nvml.so.1");
  EXPECT_TRUE(reading.gpus.empty());
  EXPECT_TRUE(reading.remarks.empty());
}

TEST_F(GpuNvml, ALibraryThatSomebodyAskedForMustLoad) {
  const GpuListing reading = NvmlLibrary().List("/absent/libnvidia-ml.so.1");
  ASSERT_EQ(reading.remarks.size(), 1U);
  EXPECT_NE(reading.remarks[0].find("/absent/libnvidia-ml.so.1"), std::string::npos);
}

TEST_F(GpuNvml, ALibraryThatIsNotNvmlIsARemark) {
  const GpuListing reading = NvmlLibrary().List("libc.so.6");
  EXPECT_TRUE(reading.gpus.empty());
  ASSERT_EQ(reading.remarks.size(), 1U);
  EXPECT_NE(reading.remarks[0].find("it has no nvml"), std::string::npos);
}

TEST_F(GpuNvml, TheEnvironmentNamesTheLibrary) {
  EXPECT_EQ(LibraryFile(NvmlLibrary()), "libnvidia-ml.so.1");
  setenv("MUSTER_NVML", "/elsewhere.so", 1);
  EXPECT_EQ(LibraryFile(NvmlLibrary()), "/elsewhere.so");
  setenv("MUSTER_NVML", "", 1);
  EXPECT_TRUE(NvmlLibrary().List(LibraryFile(NvmlLibrary())).gpus.empty());
  EXPECT_TRUE(NvmlLibrary().List(LibraryFile(NvmlLibrary())).remarks.empty());
}

TEST_F(GpuNvml, ReadsWhatTheLibrarySays) {
  const GpuListing reading = ReadFake(
      R"({"devices": [
        {"uuid": "GPU-aa", "name": "NVIDIA H200", "memory": 150754820096, "pci": [0, 59, 0]},
        {"uuid": "GPU-bb", "name": "NVIDIA H200", "memory": 150754820096, "pci": [65536, 192, 3],
         "minor": 4}]})");
  ASSERT_EQ(reading.gpus.size(), 2U);
  EXPECT_EQ(reading.gpus[0].uuid, "GPU-aa");
  EXPECT_EQ(reading.gpus[0].model, "NVIDIA H200");
  EXPECT_EQ(reading.gpus[0].pci_address, "0000:3b:00.0");
  EXPECT_EQ(reading.gpus[0].memory, Bytes(150754820096));
  EXPECT_EQ(reading.gpus[0].numa, kNowhere);
  EXPECT_EQ(reading.gpus[1].os_index, 1U);
  EXPECT_EQ(reading.gpus[1].pci_address, "10000:c0:03.0");
  ASSERT_EQ(reading.remarks.size(), 1U);
  EXPECT_EQ(reading.remarks[0], "GPU 1 is /dev/nvidia4");
}

TEST_F(GpuNvml, SwitchesJoinEveryTwoByTheFewerOfTheirNvLinks) {
  const GpuListing reading = ReadFake(
      R"({"devices": [
        {"uuid": "a", "name": "H200", "pci": [0, 6, 0], "nvlinks": ["switch", "switch", "switch"]},
        {"uuid": "b", "name": "H200", "pci": [0, 7, 0], "nvlinks": ["switch", "switch"]},
        {"uuid": "c", "name": "L40", "pci": [0, 8, 0]}]})");
  EXPECT_EQ(reading.links, (std::vector<DeviceLink>{{0, 1, LinkKind::kNvLink, 2, 0}}));
}

TEST_F(GpuNvml, ABridgeJoinsThePairThatItIsOn) {
  const GpuListing reading = ReadFake(
      R"({"devices": [
        {"uuid": "a", "name": "A100", "pci": [0, 6, 0], "nvlinks": [[0, 8, 0], [0, 8, 0]]},
        {"uuid": "b", "name": "A100", "pci": [0, 7, 0]},
        {"uuid": "c", "name": "A100", "pci": [0, 8, 0], "nvlinks": [[0, 6, 0], [0, 6, 0]]}]})");
  EXPECT_EQ(reading.links, (std::vector<DeviceLink>{{0, 2, LinkKind::kNvLink, 2, 0}}));
}

TEST_F(GpuNvml, LinksAreOfTheGpusThatAreLeft) {
  const GpuListing reading = ReadFake(
      R"({"devices": [
        {"uuid": "a", "name": "H200", "pci": [0, 6, 0], "error": 15},
        {"uuid": "b", "name": "H200", "pci": [0, 7, 0], "nvlinks": ["switch"]},
        {"uuid": "c", "name": "H200", "pci": [0, 8, 0], "nvlinks": ["switch"]}]})");
  EXPECT_EQ(reading.links, (std::vector<DeviceLink>{{0, 1, LinkKind::kNvLink, 1, 0}}));
}

TEST_F(GpuNvml, ALostGpuIsLeftOutAndNamed) {
  const GpuListing reading = ReadFake(
      R"({"devices": [{"pci": [0, 1, 0], "error": 15},
                      {"uuid": "GPU-b", "name": "A", "pci": [0, 2, 0], "minor": 1}]})");
  ASSERT_EQ(reading.gpus.size(), 1U);
  EXPECT_EQ(reading.gpus[0].uuid, "GPU-b");
  EXPECT_EQ(reading.gpus[0].os_index, 1U);
  ASSERT_EQ(reading.remarks.size(), 1U);
  EXPECT_EQ(reading.remarks[0], "GPU 0 is left out: GPU is lost");
}

// An A100 divided in two with a hole between, and a whole one.
constexpr char kDivided[] = R"({"devices": [
    {"uuid": "GPU-a", "name": "NVIDIA A100-SXM4-40GB", "memory": 42949672960, "pci": [0, 59, 0],
     "mig": true, "nvlinks": ["switch"], "instances": [
       {"uuid": "MIG-1", "name": "NVIDIA A100-SXM4-40GB MIG 3g.20gb", "memory": 20937965568},
       null,
       {"uuid": "MIG-2", "name": "NVIDIA A100-SXM4-40GB MIG 1g.5gb", "memory": 5100273664}]},
    {"uuid": "GPU-b", "name": "NVIDIA A100-SXM4-40GB", "memory": 42949672960, "pci": [0, 60, 0],
     "minor": 1, "nvlinks": ["switch"]}]})";

TEST_F(GpuNvml, AGpuDividedByMigIsReplacedByItsInstances) {
  const GpuListing reading = ReadFake(kDivided);
  ASSERT_EQ(reading.gpus.size(), 3U);
  EXPECT_EQ(reading.gpus[0],
            (Gpu{0, "MIG-1", "NVIDIA A100-SXM4-40GB MIG 3g.20gb", "0000:3b:00.0",
                 Bytes(20937965568), kNowhere, GpuVendor::kNvidia, "3g.20gb", "GPU-a"}));
  EXPECT_EQ(reading.gpus[1].uuid, "MIG-2");
  EXPECT_EQ(reading.gpus[1].instance, "1g.5gb");
  EXPECT_EQ(reading.gpus[1].parent, "GPU-a");
  EXPECT_EQ(reading.gpus[1].memory, Bytes(5100273664));
  EXPECT_EQ(reading.gpus[2].uuid, "GPU-b");
  EXPECT_EQ(reading.gpus[2].instance, "");
  EXPECT_TRUE(reading.remarks.empty()) << reading.remarks.front();
}

TEST_F(GpuNvml, InstancesHaveNoLinks) {
  EXPECT_TRUE(ReadFake(kDivided).links.empty());
}

TEST_F(GpuNvml, AnInstanceWhoseNameSaysNoProfileIsNamedByItsSlices) {
  const GpuListing reading = ReadFake(
      R"({"devices": [{"uuid": "GPU-a", "name": "H200", "pci": [0, 1, 0], "mig": true,
          "instances": [{"uuid": "MIG-1", "name": "H200", "memory": 38654705664, "slices": 2},
                        {"uuid": "MIG-2", "name": "H200"}]}]})");
  ASSERT_EQ(reading.gpus.size(), 1U);
  EXPECT_EQ(reading.gpus[0].instance, "2g.36gb");
  EXPECT_EQ(reading.gpus[0].model, "H200 MIG 2g.36gb");
  ASSERT_EQ(reading.remarks.size(), 1U);
  EXPECT_EQ(reading.remarks[0],
            "MIG instance 1 of GPU 0 is left out: NVML does not say its profile");
}

TEST_F(GpuNvml, AGpuWithMigOnAndNoInstancesIsNotListed) {
  const GpuListing reading = ReadFake(
      R"({"devices": [{"uuid": "GPU-a", "name": "A100", "pci": [0, 1, 0], "mig": true,
                       "instances": [null, null]}]})");
  EXPECT_TRUE(reading.gpus.empty());
  ASSERT_EQ(reading.remarks.size(), 1U);
  EXPECT_NE(reading.remarks[0].find("has no instances"), std::string::npos);
}

TEST_F(GpuNvml, WhatNvmlRefusesOfMigIsARemark) {
  const GpuListing uncounted = ReadFake(
      R"({"devices": [{"uuid": "GPU-a", "name": "A100", "pci": [0, 1, 0], "mig": true,
                       "mig_error": 15}]})");
  EXPECT_TRUE(uncounted.gpus.empty());
  EXPECT_EQ(uncounted.remarks,
            std::vector<std::string>{"GPU 0 is divided by MIG and left out: GPU is lost"});
  const GpuListing unread = ReadFake(
      R"({"devices": [{"uuid": "GPU-a", "name": "A100", "pci": [0, 1, 0], "mig": true,
          "instances": [{"uuid": "MIG-1", "name": "A100 MIG 1g.5gb", "error": 15}]}]})");
  EXPECT_TRUE(unread.gpus.empty());
  EXPECT_EQ(unread.remarks,
            std::vector<std::string>{"MIG instance 0 of GPU 0 is left out: GPU is lost"});
}

TEST_F(GpuNvml, ADriverWithoutTheCallsForMigListsTheWholeGpu) {
  setenv("MUSTER_FAKE_NVML_JSON", Write(kDivided).c_str(), 1);
  const GpuListing reading = NvmlLibrary().List(FAKE_NVML_WITHOUT_MIG);
  ASSERT_EQ(reading.gpus.size(), 2U);
  EXPECT_EQ(reading.gpus[0].uuid, "GPU-a");
  ASSERT_EQ(reading.remarks.size(), 1U);
  EXPECT_EQ(reading.remarks[0], "GPU 0 is divided by MIG; its parts are not listed");
}

TEST_F(GpuNvml, ADriverThatIsNotLoadedIsARemark) {
  const GpuListing reading = ReadFake(R"({"init": 9, "devices": []})");
  EXPECT_TRUE(reading.gpus.empty());
  ASSERT_EQ(reading.remarks.size(), 1U);
  EXPECT_NE(reading.remarks[0].find("Driver Not Loaded"), std::string::npos);
}

HwlocTopology Dgx2() {
  const std::string path = absl::StrCat(MUSTER_FIXTURES, "/topology/nvidiaDGX2.xml");
  const absl::StatusOr<std::string> content = ReadFile(path);
  EXPECT_TRUE(content.ok());
  const absl::StatusOr<std::string> xml = ToHwloc2Schema(content.value_or(""), path);
  EXPECT_TRUE(xml.ok());
  absl::StatusOr<HwlocTopology> topology = HwlocTopology::LoadXml(xml.value_or(""), path);
  EXPECT_TRUE(topology.ok()) << topology.status();
  return *std::move(topology);
}

// NVML on one side, hwloc's picture of a DGX-2 on the other: only the PCI address joins them.
TEST_F(GpuNvml, GpusAreJoinedToTheirNumaNodeByPciAddress) {
  const HwlocTopology topology = Dgx2();
  absl::StatusOr<Machine> machine = TakeInventory(topology, std::nullopt);
  ASSERT_TRUE(machine.ok());
  machine->gpus = ReadFake(R"({"devices": [
      {"uuid": "GPU-far", "name": "V100", "pci": [0, 183, 0], "minor": 0},
      {"uuid": "GPU-near", "name": "V100", "pci": [0, 52, 0], "minor": 1},
      {"uuid": "GPU-unknown", "name": "V100", "pci": [0, 254, 0], "minor": 2}]})")
                      .gpus;
  ASSERT_EQ(machine->gpus.size(), 3U);
  LocateGpus(topology, *machine);
  EXPECT_EQ(machine->gpus[0].numa, 1U);
  EXPECT_EQ(machine->gpus[1].numa, 0U);
  EXPECT_EQ(machine->gpus[2].numa, kNowhere);
  ASSERT_EQ(machine->remarks.size(), 1U);
  EXPECT_NE(machine->remarks[0].find("0000:fe:00.0"), std::string::npos);
}

TEST_F(GpuNvml, InstancesAreNearTheNodeOfTheirGpuAndHaveNoLinksAmongThem) {
  const HwlocTopology topology = Dgx2();
  absl::StatusOr<Machine> machine = TakeInventory(topology, std::nullopt);
  ASSERT_TRUE(machine.ok());
  machine->gpus = ReadFake(R"({"devices": [
      {"uuid": "GPU-a", "name": "A100", "pci": [0, 183, 0], "mig": true, "instances": [
        {"uuid": "MIG-1", "name": "A100 MIG 1g.5gb"}, {"uuid": "MIG-2", "name": "A100 MIG 1g.5gb"}]},
      {"uuid": "GPU-b", "name": "A100", "pci": [0, 254, 0], "mig": true, "instances": [
        {"uuid": "MIG-3", "name": "A100 MIG 1g.5gb"}, {"uuid": "MIG-4", "name": "A100 MIG 1g.5gb"}]},
      {"uuid": "GPU-c", "name": "A100", "pci": [0, 185, 0]},
      {"uuid": "GPU-d", "name": "A100", "pci": [0, 188, 0]}]})")
                      .gpus;
  ASSERT_EQ(machine->gpus.size(), 6U);
  LocateGpus(topology, *machine);
  AddDeviceLinks(topology, *machine);
  EXPECT_EQ(machine->gpus[0].numa, 1U);
  EXPECT_EQ(machine->gpus[1].numa, 1U);
  EXPECT_EQ(machine->remarks.size(), 1U) << "the GPU at fe is unknown once, not for each instance";
  ASSERT_EQ(machine->gpu_links.size(), 1U);
  EXPECT_EQ(machine->gpu_links[0].a, 4U);
  EXPECT_EQ(machine->gpu_links[0].b, 5U);
  EXPECT_TRUE(CheckMachine(*machine).ok()) << CheckMachine(*machine);
}

}  // namespace
}  // namespace muster::topology
