#include "topology/hwloc/pci_links.h"

#include <gtest/gtest.h>

#include "tests/unit/topology/links.h"
#include "topology/captured/captured.h"
#include "topology/captured/slice.h"

namespace muster::topology {
namespace {

using testing::GpuLink;
using testing::NicLink;

Machine Read(const std::string& name) {
  absl::StatusOr<Machine> machine =
      ReadCapturedMachine(absl::StrCat(MUSTER_FIXTURES, "/topology/", name));
  EXPECT_TRUE(machine.ok()) << machine.status();
  return machine.ok() ? *std::move(machine) : Machine();
}

std::uint64_t Bandwidth(const Machine& machine, std::uint32_t a, std::uint32_t b) {
  for (const DeviceLink& link : machine.gpu_links) {
    if (link.a == a && link.b == b) {
      return link.bandwidth;
    }
  }
  return 0;
}

TEST(PciLinks, NvLinksOfAPower8JoinTheGpusOfASocket) {
  const Machine machine = Read("power8gpudistances.xml");
  EXPECT_EQ(GpuLink(machine, 0, 1), "NV");
  EXPECT_EQ(Bandwidth(machine, 0, 1), 40'000U);
  EXPECT_EQ(GpuLink(machine, 2, 3), "NV");
  EXPECT_EQ(GpuLink(machine, 0, 2), "SYS");
  EXPECT_EQ(GpuLink(machine, 1, 3), "SYS");
}

TEST(PciLinks, NvSwitchesJoinAllGpusOfADgx2) {
  const Machine machine = Read("nvidiaDGX2.xml");
  ASSERT_EQ(machine.gpu_links.size(), 120U);
  for (const DeviceLink& link : machine.gpu_links) {
    EXPECT_EQ(link.kind, LinkKind::kNvLink) << link.a << " " << link.b;
    EXPECT_EQ(link.bandwidth, 150'000U) << link.a << " " << link.b;
  }
}

TEST(PciLinks, WithoutNvLinksInTheCapturePciBridgesDecide) {
  const Machine machine = Read("h200x4.xml");
  ASSERT_EQ(machine.gpu_links.size(), 6U);
  for (const DeviceLink& link : machine.gpu_links) {
    EXPECT_NE(link.kind, LinkKind::kNvLink);
    EXPECT_NE(link.kind, LinkKind::kSystem);  // there is one NUMA node
  }
}

TEST(PciLinks, ASliceKeepsTheLinksOfItsOwnDevices) {
  const Machine machine = Read("power8gpudistances.xml");
  const absl::StatusOr<Machine> second = SliceMachine(machine, 1, 2);
  ASSERT_TRUE(second.ok()) << second.status();
  ASSERT_EQ(second->gpus.size(), 2U);
  ASSERT_EQ(second->gpu_links.size(), 1U);
  EXPECT_EQ(second->gpu_links[0].kind, LinkKind::kNvLink);
  EXPECT_EQ(GpuLink(*second, 0, 1), "NV");
}

TEST(PciLinks, NumaNodesAloneStillTellNearFromFar) {
  Machine machine;
  machine.numa_nodes.resize(1);
  EXPECT_EQ(LinkByNuma(machine, kNowhere, kNowhere), LinkKind::kNode);
  machine.numa_nodes.resize(2);
  EXPECT_EQ(LinkByNuma(machine, 0, 0), LinkKind::kNode);
  EXPECT_EQ(LinkByNuma(machine, 0, 1), LinkKind::kSystem);
  EXPECT_EQ(LinkByNuma(machine, 0, kNowhere), LinkKind::kUnknown);
}

}  // namespace
}  // namespace muster::topology
