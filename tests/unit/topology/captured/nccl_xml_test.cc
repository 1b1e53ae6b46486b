#include "topology/captured/nccl_xml.h"

#include <gtest/gtest.h>

#include "scheduler/runtime/file.h"
#include "tests/unit/topology/links.h"
#include "topology/captured/captured.h"

namespace muster::topology {
namespace {

using testing::GpuLink;
using testing::HasRemark;
using testing::NicLink;

Machine Read(const std::string& name) {
  absl::StatusOr<Machine> machine =
      ReadCapturedMachine(absl::StrCat(MUSTER_FIXTURES, "/topology/", name));
  EXPECT_TRUE(machine.ok()) << machine.status();
  return machine.ok() ? *std::move(machine) : Machine();
}

absl::StatusOr<Machine> Parse(const std::string& cpus) {
  return ParseNcclXml("<system version=\"1\">\n" + cpus + "\n</system>\n", "t.xml");
}

std::string ErrorOf(const std::string& cpus) {
  const absl::StatusOr<Machine> machine = Parse(cpus);
  EXPECT_FALSE(machine.ok());
  return std::string(machine.status().message());
}

TEST(NcclXml, GpusAndPortsOfOneSwitchAreNear) {
  const Machine machine = Read("ndv4-topo.xml");
  EXPECT_EQ(machine.cores.size(), 96U);
  ASSERT_EQ(machine.numa_nodes.size(), 4U);
  ASSERT_EQ(machine.gpus.size(), 8U);
  ASSERT_EQ(machine.nics.size(), 8U);
  EXPECT_EQ(machine.gpus[0].pci_address, "0001:00:00.0");  // nvidia-smi's order
  EXPECT_EQ(machine.numa_nodes[machine.gpus[0].numa].os_index, 1U);
  EXPECT_EQ(GpuLink(machine, 0, 1), "PIX");
  EXPECT_EQ(GpuLink(machine, 0, 2), "SYS");
  for (std::uint32_t nic = 0; nic < 8; ++nic) {
    const bool beside = machine.nics[nic].numa == machine.gpus[0].numa;
    EXPECT_EQ(NicLink(machine, 0, nic), beside ? "PIX" : "SYS") << machine.nics[nic].name;
  }
}

TEST(NcclXml, GpusOfOneProcessorMeetInItsHostBridge) {
  const Machine machine = Read("ndv2-topo.xml");
  EXPECT_EQ(machine.cores.size(), 40U);
  ASSERT_EQ(machine.gpus.size(), 8U);
  EXPECT_EQ(GpuLink(machine, 0, 3), "PHB");
  EXPECT_EQ(GpuLink(machine, 3, 4), "SYS");
  ASSERT_EQ(machine.nics.size(), 1U);
  EXPECT_EQ(machine.nics[0].name, "0101:00:00.0");
  const Machine five = Read("ndv5-topo.xml");
  EXPECT_EQ(five.gpus.size(), 8U);
  EXPECT_EQ(five.nics.size(), 8U);
  EXPECT_EQ(five.numa_nodes.size(), 2U);
}

TEST(NcclXml, NvLinksToItselfAreToldAndLeftOut) {
  const Machine machine = Read("ncv4-topo.xml");
  ASSERT_EQ(machine.gpus.size(), 4U);
  EXPECT_EQ(GpuLink(machine, 0, 1), "SYS");
  EXPECT_TRUE(HasRemark(machine, "GPU 0 has NVLinks to itself"));
  ASSERT_EQ(machine.nics.size(), 1U);
  EXPECT_EQ(machine.nics[0].name, "eth0");
  EXPECT_FALSE(machine.nics[0].fabric);
}

TEST(NcclXml, NvLinksCountDirectAndThroughSwitches) {
  const std::string cpu = "<cpu numaid=\"0\" affinity=\"f\">";
  const auto gpu = [](int n, const std::string& target, const std::string& kind) {
    return absl::StrCat("<pci busid=\"000", n, ":00:00.0\" class=\"0x030200\"><gpu dev=\"", n,
                        "\" sm=\"80\"><nvlink target=\"", target, "\" count=\"12\" tclass=\"", kind,
                        "\"/></gpu></pci>");
  };
  const absl::StatusOr<Machine> direct = Parse(cpu + gpu(0, "0001:00:00.0", "0x030200") +
                                               gpu(1, "0000:00:00.0", "0x030200") + "</cpu>");
  ASSERT_TRUE(direct.ok()) << direct.status();
  EXPECT_EQ(GpuLink(*direct, 0, 1), "NV12");
  EXPECT_EQ(direct->gpu_links[0].bandwidth, 300'000U);
  const absl::StatusOr<Machine> switched =
      Parse(cpu + gpu(0, "ffff:ff:ff.0", "0x068000") + gpu(1, "ffff:ff:ff.0", "0x068000") +
            gpu(2, "0009:00:00.0", "0x030200") + "</cpu>");
  ASSERT_TRUE(switched.ok()) << switched.status();
  EXPECT_EQ(GpuLink(*switched, 0, 1), "NV12");
  EXPECT_EQ(GpuLink(*switched, 0, 2), "PHB");
}

TEST(NcclXml, DeepTreesTellSwitchesApart) {
  const std::string bridge = "class=\"0x060400\">";
  const std::string gpu = "class=\"0x030200\"/>";
  const absl::StatusOr<Machine> machine = Parse(
      "<cpu numaid=\"0\" affinity=\"f\"><pci busid=\"a\" " + bridge + "<pci busid=\"b\" " + bridge +
      "<pci busid=\"b0\" " + bridge + "<pci busid=\"1\" " + gpu + "</pci>" + "<pci busid=\"b1\" " +
      bridge + "<pci busid=\"2\" " + gpu + "</pci></pci>" + "<pci busid=\"c\" " + bridge +
      "<pci busid=\"c0\" " + bridge + "<pci busid=\"3\" " + gpu + "</pci></pci></pci></cpu>");
  ASSERT_TRUE(machine.ok()) << machine.status();
  EXPECT_EQ(GpuLink(*machine, 0, 1), "PIX");
  EXPECT_EQ(GpuLink(*machine, 0, 2), "PXB");
}

TEST(NcclXml, EveryBadFileIsOneLineWithItsPlace) {
  EXPECT_NE(ErrorOf("<cpu numaid=\"0\" affinity=\"f\">").find("t.xml:3: malformed XML: mismatched"),
            std::string::npos);
  EXPECT_NE(ErrorOf("<cpu numaid=\"zero\" affinity=\"f\"/>").find("t.xml:2: numaid=\"zero\""),
            std::string::npos);
  EXPECT_NE(ErrorOf("<cpu numaid=\"0\" affinity=\"xyz\"/>").find("t.xml:2: affinity=\"xyz\""),
            std::string::npos);
  EXPECT_NE(ErrorOf("<cpu numaid=\"0\" affinity=\"f\"/>\n<cpu numaid=\"0\" affinity=\"f0\"/>")
                .find("t.xml:3: NUMA node 0 is there twice"),
            std::string::npos);
  EXPECT_NE(ErrorOf("<cpu numaid=\"0\" affinity=\"f\"/>\n<cpu numaid=\"1\" affinity=\"f\"/>")
                .find("t.xml:3: NUMA node 1 has hardware threads of another"),
            std::string::npos);
  EXPECT_NE(ErrorOf("").find("t.xml:1: no <cpu>"), std::string::npos);
  EXPECT_NE(ErrorOf("<cpu numaid=\"0\" affinity=\"f\">\n<pci class=\"0x030200\"/></cpu>")
                .find("t.xml:3: a <pci> without a busid"),
            std::string::npos);
  EXPECT_NE(ErrorOf("<cpu numaid=\"0\" affinity=\"f\"><pci busid=\"1\" class=\"0x030200\"/>\n"
                    "<pci busid=\"1\" class=\"0x020700\"/></cpu>")
                .find("t.xml:3: PCI device 1 is there twice"),
            std::string::npos);
  EXPECT_NE(ErrorOf("<cpu numaid=\"0\" affinity=\"f\"><pci busid=\"1\" class=\"0x030200\"><gpu>\n"
                    "<nvlink target=\"2\" count=\"many\"/></gpu></pci></cpu>")
                .find("t.xml:3: count=\"many\""),
            std::string::npos);
  EXPECT_NE(ParseNcclXml("<topology/>", "t.xml").status().message().find("NCCL's <system>"),
            std::string::npos);
  EXPECT_FALSE(ParseNcclXml(std::string(100'000, '<'), "t.xml").ok());
  std::string deep = "<system>";
  for (int i = 0; i < 2000; ++i) {
    deep += "<a>";
  }
  EXPECT_NE(ParseNcclXml(deep, "t.xml").status().message().find("elements deep"),
            std::string::npos);
}

TEST(NcclXml, ACutFileIsRefusedWhereverItIsCut) {
  const absl::StatusOr<std::string> whole =
      ReadFile(absl::StrCat(MUSTER_FIXTURES, "/topology/ndv4-topo.xml"));
  ASSERT_TRUE(whole.ok());
  for (std::size_t size = 0; size + 10 < whole->size(); size += 41) {
    EXPECT_FALSE(ParseNcclXml(whole->substr(0, size), "t.xml").ok()) << size;
  }
}

}  // namespace
}  // namespace muster::topology
