#include "topology/hwloc/inventory.h"

#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "scheduler/model/machine/machine_check.h"
#include "scheduler/runtime/file.h"
#include "tests/unit/topology/links.h"
#include "topology/hwloc/hwloc_schema.h"

namespace muster::topology {
namespace {

HwlocTopology Synthetic(const std::string& description) {
  absl::StatusOr<HwlocTopology> topology = HwlocTopology::LoadSynthetic(description);
  EXPECT_TRUE(topology.ok()) << topology.status();
  return *std::move(topology);
}

Machine Take(const HwlocTopology& topology, const std::optional<CpuSet>& usable) {
  absl::StatusOr<Machine> machine = TakeInventory(topology, usable);
  EXPECT_TRUE(machine.ok()) << machine.status();
  EXPECT_TRUE(CheckMachine(*machine).ok()) << CheckMachine(*machine);
  return *std::move(machine);
}

Gpu Unplaced(const char* address) {
  return {0, "GPU-a", "H200", address, Bytes(), kNowhere, GpuVendor::kNvidia, "", ""};
}

TEST(Inventory, ANodeWhoseThreadsWeMayNotUseKeepsItsMemoryAlone) {
  const Machine machine =
      Take(Synthetic("pack:2 numa:1(memory=8GB) core:4 pu:2"), *CpuSet::Parse("0-2,4"));
  ASSERT_EQ(machine.numa_nodes.size(), 2U);
  EXPECT_EQ(machine.numa_nodes[0].cpus.ToList(), "0-2,4");
  EXPECT_TRUE(machine.numa_nodes[1].cpus.Empty());
  EXPECT_FALSE(machine.numa_nodes[1].memory.zero());
  EXPECT_EQ(machine.packages.size(), 1U);
  ASSERT_EQ(machine.cores.size(), 3U);
  EXPECT_EQ(machine.cores[1].cpus.ToList(), "2") << "its other thread is not ours";
}

TEST(Inventory, PoolsOfHugePagesAreCountedAndAreNoMemoryForOthers) {
  const auto numa = [](int index, const char* pages) {
    return absl::StrCat("<object type=\"NUMANode\" os_index=\"", index, "\" cpuset=\"0x", 1 + index,
                        "\" complete_cpuset=\"0x", 1 + index, "\" nodeset=\"0x", 1 + index,
                        "\" complete_nodeset=\"0x", 1 + index, "\" gp_index=\"", 10 + index,
                        "\" local_memory=\"8589934592\">"
                        "<page_type size=\"4096\" count=\"1\"/>",
                        pages, "</object>");
  };
  const auto group = [&numa](int index, const char* pages) {
    return absl::StrCat("<object type=\"Package\" os_index=\"", index, "\" cpuset=\"0x", 1 + index,
                        "\" complete_cpuset=\"0x", 1 + index, "\" nodeset=\"0x", 1 + index,
                        "\" complete_nodeset=\"0x", 1 + index, "\" gp_index=\"", 2 + index, "\">",
                        numa(index, pages), "<object type=\"Core\" os_index=\"0\" cpuset=\"0x",
                        1 + index, "\" complete_cpuset=\"0x", 1 + index, "\" nodeset=\"0x",
                        1 + index, "\" complete_nodeset=\"0x", 1 + index, "\" gp_index=\"",
                        4 + index, "\"><object type=\"PU\" os_index=\"", index, "\" cpuset=\"0x",
                        1 + index, "\" complete_cpuset=\"0x", 1 + index, "\" nodeset=\"0x",
                        1 + index, "\" complete_nodeset=\"0x", 1 + index, "\" gp_index=\"",
                        6 + index, "\"/></object></object>");
  };
  const absl::StatusOr<HwlocTopology> topology = HwlocTopology::LoadXml(
      absl::StrCat("<?xml version=\"1.0\"?><!DOCTYPE topology SYSTEM \"hwloc2.dtd\">"
                   "<topology version=\"2.0\"><object type=\"Machine\" os_index=\"0\" "
                   "cpuset=\"0x3\" complete_cpuset=\"0x3\" allowed_cpuset=\"0x3\" "
                   "nodeset=\"0x3\" complete_nodeset=\"0x3\" allowed_nodeset=\"0x3\" "
                   "gp_index=\"1\">",
                   group(0,
                         "<page_type size=\"2097152\" count=\"512\"/>"
                         "<page_type size=\"1073741824\" count=\"2\"/>"),
                   group(1, "<page_type size=\"2097152\" count=\"256\"/>"), "</object></topology>"),
      "pools.xml");
  ASSERT_TRUE(topology.ok()) << topology.status();
  const Machine machine = Take(*topology, std::nullopt);
  EXPECT_EQ(ToText(machine.gres), "hugepages-1G:2,hugepages-2M:768");
  ASSERT_EQ(machine.numa_nodes.size(), 2U);
  EXPECT_EQ(machine.numa_nodes[0].memory, kGibibyte * 5);
  EXPECT_EQ(machine.numa_nodes[1].memory, Bytes(std::uint64_t{15} << 29U));
  EXPECT_EQ(machine.memory, Bytes(std::uint64_t{25} << 29U));
}

TEST(Inventory, ADieIsOnlyTheThreadsThatWeMayUse) {
  const Machine machine = Take(Synthetic("pack:1 die:2 core:4 pu:1"), *CpuSet::Parse("2-3"));
  ASSERT_EQ(machine.dies.size(), 1U);
  EXPECT_EQ(machine.dies[0].cpus.ToList(), "2-3");
}

TEST(Inventory, AGpuOfWhichThePlatformSaysNothingIsNearTheOnlyNode) {
  const HwlocTopology topology = Synthetic("pack:1 numa:1 core:4 pu:1");
  Machine machine = Take(topology, std::nullopt);
  machine.gpus = {Unplaced("0000:3b:00.0")};
  LocateGpus(topology, machine);
  EXPECT_EQ(machine.gpus[0].numa, 0U);
  EXPECT_TRUE(machine.remarks.empty());
}

TEST(Inventory, AGpuOfWhichThePlatformSaysNothingIsNowhereAmongSeveralNodes) {
  const HwlocTopology topology = Synthetic("pack:2 numa:1 core:4 pu:1");
  Machine machine = Take(topology, std::nullopt);
  machine.gpus = {Unplaced("0000:3b:00.0")};
  LocateGpus(topology, machine);
  EXPECT_EQ(machine.gpus[0].numa, kNowhere);
  EXPECT_TRUE(testing::HasRemark(machine, "GPU 0 (0000:3b:00.0): the platform does not say"));
}

// The GPU at b7 stands on node 1, of which this process may use the memory alone.
TEST(Inventory, AGpuOnANodeWithoutThreadsOfOursIsNearTheNodeThatHasThem) {
  const std::string path = absl::StrCat(MUSTER_FIXTURES, "/topology/nvidiaDGX2.xml");
  const absl::StatusOr<HwlocTopology> topology =
      HwlocTopology::LoadXml(*ToHwloc2Schema(*ReadFile(path), path), path);
  ASSERT_TRUE(topology.ok()) << topology.status();
  const Machine whole = Take(*topology, std::nullopt);
  Machine machine = Take(*topology, whole.numa_nodes[0].cpus);
  ASSERT_TRUE(machine.numa_nodes[1].cpus.Empty());
  machine.gpus = {Unplaced("0000:b7:00.0")};
  LocateGpus(*topology, machine);
  EXPECT_EQ(machine.gpus[0].numa, 0U);
  EXPECT_TRUE(CheckMachine(machine).ok()) << CheckMachine(machine);
}

TEST(Inventory, ThreadsThatAreOfflineAreNotListed) {
  const std::string path = absl::StrCat(MUSTER_FIXTURES, "/topology/16em64t-4s2c2t-offlines.xml");
  const absl::StatusOr<HwlocTopology> topology =
      HwlocTopology::LoadXml(*ToHwloc2Schema(*ReadFile(path), path), path);
  ASSERT_TRUE(topology.ok()) << topology.status();
  hwloc_const_bitmap_t present = hwloc_topology_get_complete_cpuset(topology->get());
  const Machine machine = Take(*topology, std::nullopt);
  EXPECT_EQ(AllCpus(machine).Count(), 7U);
  EXPECT_GT(hwloc_bitmap_weight(present), 7) << "the capture knows of offline ones";
}

}  // namespace
}  // namespace muster::topology
