#include "topology/gpu/live_gpus.h"

#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "scheduler/model/machine/machine_check.h"
#include "scheduler/runtime/file.h"
#include "tests/unit/topology/links.h"
#include "topology/hwloc/hwloc_schema.h"
#include "topology/hwloc/inventory.h"

namespace muster::topology {
namespace {

using testing::GpuLink;
using testing::HasRemark;

// A DGX-2 as hwloc sees it, with two packages and GPUs at 34, 36 (node 0) and b7, b9 (node 1).
class LiveGpus : public ::testing::Test {
 protected:
  LiveGpus() {
    const std::string path = absl::StrCat(MUSTER_FIXTURES, "/topology/nvidiaDGX2.xml");
    topology_ = HwlocTopology::LoadXml(*ToHwloc2Schema(*ReadFile(path), path), path);
    machine_ = *TakeInventory(*topology_, std::nullopt);
    nvidia_.gpus = {
        {0, "GPU-a", "V100", "0000:34:00.0", Bytes(), kNowhere, GpuVendor::kNvidia, "", ""},
        {1, "GPU-b", "V100", "0000:b7:00.0", Bytes(), kNowhere, GpuVendor::kNvidia, "", ""}};
    amd_.gpus = {
        {0, "GPU-00aa", "MI300X", "0000:36:00.0", Bytes(), kNowhere, GpuVendor::kAmd, "", ""},
        {1, "GPU-00bb", "MI300X", "0000:b9:00.0", Bytes(), kNowhere, GpuVendor::kAmd, "", ""}};
    amd_.numa_told = {0, 1};
  }
  void Add() {
    AddLiveGpus(*topology_, {nvidia_, amd_}, machine_);
    EXPECT_TRUE(CheckMachine(machine_).ok()) << CheckMachine(machine_);
  }
  absl::StatusOr<HwlocTopology> topology_ = absl::UnknownError("not loaded");
  Machine machine_;
  GpuListing nvidia_;
  GpuListing amd_;
};

TEST_F(LiveGpus, NvidiasStandFirstAndEachVendorCountsFromZero) {
  Add();
  ASSERT_EQ(machine_.gpus.size(), 4U);
  EXPECT_EQ(machine_.gpus[1].uuid, "GPU-b");
  EXPECT_EQ(machine_.gpus[2].uuid, "GPU-00aa");
  EXPECT_EQ(machine_.gpus[2].os_index, 0U);
  EXPECT_EQ(machine_.gpus[2].numa, 0U);
  EXPECT_EQ(machine_.gpus[3].numa, 1U);
  EXPECT_TRUE(machine_.remarks.empty());
}

TEST_F(LiveGpus, TheLinksOfEachLibraryAreBetweenItsOwnGpus) {
  nvidia_.links = {{0, 1, LinkKind::kNvLink, 6, 0}};
  amd_.links = {{0, 1, LinkKind::kNvLink, 0, 100'000}};
  Add();
  EXPECT_EQ(machine_.gpu_links.size(), 6U);
  EXPECT_EQ(GpuLink(machine_, 0, 1), "NV6");
  EXPECT_EQ(machine_.gpu_links.back(), (DeviceLink{2, 3, LinkKind::kNvLink, 0, 100'000}));
  EXPECT_EQ(machine_.gpu_links[3], (DeviceLink{1, 2, LinkKind::kNvLink, 0, 150'000}))
      << "what neither tells of is hwloc's";
}

TEST_F(LiveGpus, LinksStayInOrderWhereThePciTreeKnowsOnlySome) {
  nvidia_.gpus[0].pci_address = "0000:fe:00.0";  // nowhere, so no PCIe path to it
  nvidia_.links = {{0, 1, LinkKind::kNvLink, 6, 0}};
  Add();
  ASSERT_FALSE(machine_.gpu_links.empty());
  EXPECT_EQ(machine_.gpu_links.front().kind, LinkKind::kNvLink);
  EXPECT_TRUE(HasRemark(machine_, "0000:fe:00.0"));
}

TEST_F(LiveGpus, ALibraryThatPutsAGpuElsewhereIsARemark) {
  amd_.numa_told = {1, 7};
  Add();
  EXPECT_EQ(machine_.gpus[2].numa, 0U);
  EXPECT_EQ(machine_.gpus[3].numa, 1U);
  EXPECT_TRUE(HasRemark(machine_, "on NUMA node 1, the PCI bus on 0: the latter counts"));
  EXPECT_TRUE(HasRemark(machine_, "on NUMA node 7, which is not there"));
}

TEST_F(LiveGpus, WhatTheLibrariesRemarkIsKept) {
  nvidia_.remarks = {"one"};
  amd_.remarks = {"two"};
  Add();
  EXPECT_TRUE(HasRemark(machine_, "one"));
  EXPECT_TRUE(HasRemark(machine_, "two"));
}

}  // namespace
}  // namespace muster::topology
