#include "topology/captured/captured.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <fstream>
#include <ostream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "scheduler/model/machine/machine_check.h"
#include "scheduler/runtime/file.h"
#include "tests/unit/scheduler/runtime/temp_directory.h"
#include "topology/captured/describe.h"

namespace muster::topology {
namespace {

std::string Fixture(const std::string& name) {
  return absl::StrCat(MUSTER_FIXTURES, "/topology/", name);
}

Machine Read(const std::string& source) {
  absl::StatusOr<Machine> machine = ReadCapturedMachine(source);
  EXPECT_TRUE(machine.ok()) << machine.status();
  return machine.ok() ? *std::move(machine) : Machine();
}

bool Remarks(const Machine& machine, const std::string& piece) {
  return std::any_of(
      machine.remarks.begin(), machine.remarks.end(),
      [&piece](const std::string& remark) { return remark.find(piece) != std::string::npos; });
}

struct Expected {
  std::string file;
  std::size_t packages;
  std::size_t numa_nodes;
  std::size_t l3_caches;
  std::size_t cores;
  std::uint32_t threads;
  std::size_t gpus;
  std::size_t nics;
  friend void PrintTo(const Expected& expected, std::ostream* out) { *out << expected.file; }
};

class CapturedMachine : public ::testing::TestWithParam<Expected> {};

TEST_P(CapturedMachine, HasWhatItsCaptureSays) {
  const Machine machine = Read(Fixture(GetParam().file));
  EXPECT_EQ(machine.packages.size(), GetParam().packages);
  EXPECT_EQ(machine.numa_nodes.size(), GetParam().numa_nodes);
  EXPECT_EQ(machine.l3_caches.size(), GetParam().l3_caches);
  EXPECT_EQ(machine.cores.size(), GetParam().cores);
  EXPECT_EQ(AllCpus(machine).Count(), GetParam().threads);
  EXPECT_EQ(machine.gpus.size(), GetParam().gpus);
  EXPECT_EQ(machine.nics.size(), GetParam().nics);
  EXPECT_TRUE(CheckMachine(machine).ok()) << CheckMachine(machine);
}

TEST_P(CapturedMachine, IsNeverEnforcedAndSaysWhy) {
  const Machine machine = Read(Fixture(GetParam().file));
  EXPECT_FALSE(machine.enforced);
  EXPECT_EQ(machine.source, Fixture(GetParam().file));
  EXPECT_EQ(machine.why_not_enforced, "the agent plays " + Fixture(GetParam().file));
}

INSTANTIATE_TEST_SUITE_P(
    Fixtures, CapturedMachine,
    ::testing::Values(Expected{"h200x4.xml", 1, 1, 1, 64, 64, 4, 1},
                      Expected{"nvidiaDGX2.xml", 2, 2, 2, 4, 4, 16, 0},
                      Expected{"power8gpudistances.xml", 2, 2, 8, 8, 16, 4, 0},
                      Expected{"nvidia-dgx-gb10.xml", 1, 1, 2, 20, 20, 0, 0},
                      Expected{"40intel64-2g2n4c+pcilocality.xml", 4, 4, 4, 40, 40, 0, 5},
                      Expected{"64intel64-heteromem.xml", 1, 8, 4, 16, 64, 0, 0},
                      Expected{"16amd64-8n2c-cpusets.xml", 6, 5, 0, 10, 10, 0, 0},
                      Expected{"16em64t-4s2c2t-offlines.xml", 4, 1, 4, 6, 7, 0, 0},
                      Expected{"cxlmem+dax.v2.xml", 1, 1, 1, 4, 4, 0, 1},
                      Expected{"Zhaoxin-2xKH-40000.xml", 2, 1, 16, 64, 64, 0, 0}),
    [](const ::testing::TestParamInfo<Expected>& fixture) {
      std::string name = fixture.param.file;
      std::replace_if(
          name.begin(), name.end(), [](char c) { return isalnum(c) == 0; }, '_');
      return name;
    });

TEST(Captured, GpusOfADgx2SitOnTheNumaNodeOfTheirPackage) {
  const Machine machine = Read(Fixture("nvidiaDGX2.xml"));
  ASSERT_EQ(machine.gpus.size(), 16U);
  for (std::uint32_t i = 0; i < 16; ++i) {
    EXPECT_EQ(machine.gpus[i].os_index, i);
    EXPECT_EQ(machine.gpus[i].numa, i / 8) << i;
    EXPECT_EQ(machine.gpus[i].model, "Tesla V100-SXM3-32GB-H");
  }
  EXPECT_EQ(machine.gpus[0].uuid, "GPU-d3977428-7a30-086b-2e20-5c1eeed647c6");
  EXPECT_EQ(machine.gpus[0].pci_address, "0000:34:00.0");
  EXPECT_TRUE(Remarks(machine, "GPUs' memory"));
}

TEST(Captured, SeveralDriversDevicesOfOneGpuAreOneGpu) {
  const Machine machine = Read(Fixture("power8gpudistances.xml"));
  ASSERT_EQ(machine.gpus.size(), 4U);
  EXPECT_EQ(machine.gpus[1].uuid, "GPU-00fc8f7f-8206-b5f8-1d34-e600a300e314");
  EXPECT_EQ(machine.gpus[1].memory, Bytes(std::uint64_t{16671616} * 1024));
  EXPECT_EQ(machine.gpus[1].numa, 0U);
  EXPECT_EQ(machine.gpus[2].numa, 1U);
}

TEST(Captured, GpusWithoutDriverDevicesAreNamedAfterTheFile) {
  const Machine machine = Read(Fixture("h200x4.xml"));
  ASSERT_EQ(machine.gpus.size(), 4U);
  EXPECT_EQ(machine.gpus[3].uuid, "GPU-h200x4.xml-3");
  EXPECT_EQ(machine.gpus[3].model, "NVIDIA H200");
  EXPECT_EQ(machine.gpus[3].memory, Bytes(std::uint64_t{146591680} * 1024));
  EXPECT_EQ(machine.gpus[3].numa, 0U) << "there is only one NUMA node to be near";
  EXPECT_TRUE(Remarks(machine, "made up"));
}

TEST(Captured, NodesOfFastMemoryBesideOrdinaryOnesHaveNoThreads) {
  const Machine machine = Read(Fixture("64intel64-heteromem.xml"));
  for (std::size_t i = 0; i < machine.numa_nodes.size(); ++i) {
    EXPECT_EQ(machine.numa_nodes[i].cpus.Empty(), i >= 4) << i;
    EXPECT_FALSE(machine.numa_nodes[i].memory.zero());
  }
}

TEST(Captured, AnInfinibandPortHidesItsOwnNetworkInterface) {
  const Machine machine = Read(Fixture("40intel64-2g2n4c+pcilocality.xml"));
  ASSERT_FALSE(machine.nics.empty());
  EXPECT_EQ(machine.nics[0].name, "qib0");
  EXPECT_EQ(machine.nics[0].pci_address, "0000:43:00.0");
  EXPECT_TRUE(machine.nics[0].fabric);
  EXPECT_TRUE(std::none_of(machine.nics.begin() + 1, machine.nics.end(), [](const Nic& nic) {
    return nic.fabric;
  })) << "the others are Ethernet interfaces";
  EXPECT_TRUE(std::none_of(machine.nics.begin(), machine.nics.end(),
                           [](const Nic& nic) { return nic.name == "ib0"; }));
}

TEST(Captured, DiesAreListedWhereAPackageHasSeveral) {
  const Machine machine = Read(Fixture("Zhaoxin-2xKH-40000.xml"));
  ASSERT_EQ(machine.dies.size(), 4U);
  for (std::uint32_t i = 0; i < 4; ++i) {
    EXPECT_EQ(machine.dies[i].package, i / 2) << i;
    EXPECT_EQ(machine.dies[i].cpus.ToList(), absl::StrCat(16 * i, "-", 16 * i + 15));
  }
  EXPECT_EQ(DescribeMachine(machine).substr(0, 40), "2 packages, 4 dies, 1 NUMA node, 64 core");
  EXPECT_TRUE(Read("pack:2 die:1 core:4").dies.empty()) << "that die is the package";
  EXPECT_EQ(Read("pack:1 die:2 core:4 pu:2").dies.size(), 2U);
}

// In the words of hwloc's plugin for ROCm SMI: a board's display controller, two GPUs, XGMI.
constexpr char kAmd[] = R"(<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE topology SYSTEM "hwloc2.dtd">
<topology version="2.0">
  <object type="Machine" os_index="0" cpuset="0x1" complete_cpuset="0x1" allowed_cpuset="0x1"
          nodeset="0x1" complete_nodeset="0x1" allowed_nodeset="0x1" gp_index="1">
    <object type="NUMANode" os_index="0" cpuset="0x1" complete_cpuset="0x1" nodeset="0x1"
            complete_nodeset="0x1" gp_index="2" local_memory="8589934592"/>
    <object type="Package" os_index="0" cpuset="0x1" complete_cpuset="0x1" nodeset="0x1"
            complete_nodeset="0x1" gp_index="3">
      <object type="Core" os_index="0" cpuset="0x1" complete_cpuset="0x1" nodeset="0x1"
              complete_nodeset="0x1" gp_index="4">
        <object type="PU" os_index="0" cpuset="0x1" complete_cpuset="0x1" nodeset="0x1"
                complete_nodeset="0x1" gp_index="5"/>
      </object>
    </object>
    <object type="Bridge" gp_index="10" bridge_type="0-1" depth="0" bridge_pci="0000:[00-ff]">
      <object type="PCIDev" gp_index="11" pci_busid="0000:01:00.0"
              pci_type="0300 [1002:515e] [0014:0019] 02" pci_link_speed="0.000000"/>
      <object type="PCIDev" gp_index="12" pci_busid="0000:c1:00.0"
              pci_type="1200 [1002:74a1] [1002:74a1] 00" pci_link_speed="63.015385">
        <object type="OSDev" gp_index="13" name="rsmi0" subtype="RSMI" osdev_type="5">
          <info name="GPUVendor" value="AMD"/>
          <info name="GPUModel" value="AMD Instinct MI300X"/>
          <info name="AMDUUID" value="aa5d4a3f0c0d64c"/>
          <info name="RSMIVRAMSize" value="201310208KiB"/>
        </object>
      </object>
      <object type="PCIDev" gp_index="14" pci_busid="0000:c4:00.0"
              pci_type="1200 [1002:74a1] [1002:74a1] 00" pci_link_speed="63.015385">
        <object type="OSDev" gp_index="15" name="rsmi1" subtype="RSMI" osdev_type="5">
          <info name="GPUModel" value="AMD Instinct MI300X"/>
          <info name="RSMIVRAMSize" value="201310208KiB"/>
        </object>
      </object>
    </object>
  </object>
  <distances2 type="OSDev" nbobjs="2" kind="25" name="XGMIBandwidth" indexing="gp">
    <indexes length="6">13 15 </indexes>
    <u64values length="30">1000000 100000 100000 1000000 </u64values>
  </distances2>
</topology>
)";

TEST(Captured, AmdsGpusAreTheDevicesOfRocmSmiAlone) {
  const TempDirectory directory;
  std::ofstream(directory / "mi300x.xml") << kAmd;
  const Machine machine = Read(directory / "mi300x.xml");
  ASSERT_EQ(machine.gpus.size(), 2U) << "the board's display controller is none";
  EXPECT_EQ(machine.gpus[0],
            (Gpu{0, "GPU-0aa5d4a3f0c0d64c", "AMD Instinct MI300X", "0000:c1:00.0",
                 Bytes(std::uint64_t{201310208} * 1024), 0, GpuVendor::kAmd, "", ""}));
  EXPECT_EQ(machine.gpus[1].uuid, "AMD-mi300x.xml-1");
  ASSERT_EQ(machine.gpu_links.size(), 1U);
  EXPECT_EQ(machine.gpu_links[0], (DeviceLink{0, 1, LinkKind::kNvLink, 0, 100'000}));
  EXPECT_TRUE(Remarks(machine, "made up"));
}

TEST(Captured, ReadsSyntheticStringsWithAndWithoutThreads) {
  const Machine full = Read("pack:2 numa:2 core:4 pu:2");
  EXPECT_EQ(DescribeMachine(full), "2 packages, 4 NUMA nodes, 16 cores, 32 threads, 4 GiB");
  EXPECT_FALSE(full.enforced);
  EXPECT_EQ(full.cores[0].cpus.ToList(), "0-1");
  EXPECT_EQ(full.cores[4].numa, 1U);
  EXPECT_TRUE(Remarks(full, "names no memory"));
  const Machine attached = Read("pack:2 [numa] core:8");
  EXPECT_EQ(DescribeMachine(attached), "2 packages, 2 NUMA nodes, 16 cores, 16 threads, 2 GiB");
  EXPECT_EQ(attached.why_not_enforced, "the agent plays pack:2 [numa] core:8");
}

TEST(Captured, TakesMemorySizesFromSyntheticStrings) {
  const Machine machine = Read("pack:2 [numa(memory=64GiB)] l3:2 core:4 pu:2");
  EXPECT_EQ(machine.memory, Bytes(2 * 64 * kGibibyte.value()));
  EXPECT_EQ(machine.l3_caches.size(), 4U);
  EXPECT_TRUE(machine.remarks.empty());
}

TEST(Captured, LeavesTheEnvironmentAsItWas) {
  ASSERT_EQ(getenv("HWLOC_HIDE_ERRORS"), nullptr);
  Read("core:2");
  EXPECT_EQ(getenv("HWLOC_HIDE_ERRORS"), nullptr);
}

// The error that `source` gives: one line that names it; hwloc itself says nothing.
std::string ErrorOf(const std::string& source) {
  testing::internal::CaptureStderr();
  const absl::StatusOr<Machine> machine = ReadCapturedMachine(source);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  EXPECT_FALSE(machine.ok()) << source;
  const std::string message(machine.status().message());
  EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  EXPECT_NE(message.find(source), std::string::npos) << message;
  return message;
}

TEST(Captured, NamesWhatIsWrongWithASyntheticString) {
  EXPECT_NE(ErrorOf("").find("no levels"), std::string::npos);
  EXPECT_NE(ErrorOf("pack:0 core:2").find("\"pack:0\" needs a count"), std::string::npos);
  EXPECT_NE(ErrorOf("pack:two").find("\"pack:two\" needs a count"), std::string::npos);
  EXPECT_NE(ErrorOf("pack:-1").find("needs a count"), std::string::npos);
  EXPECT_NE(ErrorOf("foo:3").find("no level \"foo\""), std::string::npos);
  EXPECT_NE(ErrorOf("core:2(").find("brackets"), std::string::npos);
  EXPECT_NE(ErrorOf("core:2)").find("brackets"), std::string::npos);
  EXPECT_NE(ErrorOf("pack:100000 core:100000").find("more than 65536"), std::string::npos);
  EXPECT_NE(ErrorOf("core:99999999999999999999").find("needs a count"), std::string::npos);
  EXPECT_NE(ErrorOf("pu:4 pack:2").find("does not accept"), std::string::npos);
  EXPECT_FALSE(ReadCapturedMachine(std::string("core:2\0", 7)).ok());
  EXPECT_FALSE(ReadCapturedMachine(std::string(5000, '1')).ok());
}

TEST(Captured, NamesWhatIsWrongWithAFile) {
  const TempDirectory directory;
  const auto file = [&directory](const std::string& name, const std::string& content) {
    std::ofstream(directory / name) << content;
    return directory / name;
  };
  EXPECT_NE(ErrorOf(directory / "absent.xml").find("No such file"), std::string::npos);
  EXPECT_NE(ErrorOf("absent.xml").find("No such file"), std::string::npos);
  EXPECT_NE(ErrorOf(directory.path()).find("directory"), std::string::npos);
  EXPECT_NE(ErrorOf(file("empty.xml", "")).find("no <topology>"), std::string::npos);
  EXPECT_NE(ErrorOf(file("page.xml", "<html></html>")).find("no <topology>"), std::string::npos);
  EXPECT_NE(ErrorOf(file("new.xml", "<topology version=\"4.0\"></topology>")).find("newer"),
            std::string::npos);
  EXPECT_NE(ErrorOf(file("hollow.xml", "<topology version=\"2.0\"></topology>")).find("malformed"),
            std::string::npos);
  const absl::StatusOr<std::string> whole = ReadFile(Fixture("nvidiaDGX2.xml"));
  ASSERT_TRUE(whole.ok());
  EXPECT_NE(ErrorOf(file("cut.xml", whole->substr(0, whole->size() / 2))).find("malformed"),
            std::string::npos);
}

TEST(Captured, ACutFileIsRefusedWhereverItIsCut) {
  const TempDirectory directory;
  const absl::StatusOr<std::string> whole = ReadFile(Fixture("power8gpudistances.xml"));
  ASSERT_TRUE(whole.ok());
  for (std::size_t size = 0; size + 12 < whole->size(); size += 613) {
    const std::string path = directory / "cut.xml";
    std::ofstream(path) << whole->substr(0, size);
    EXPECT_FALSE(ReadCapturedMachine(path).ok()) << size;
  }
}

}  // namespace
}  // namespace muster::topology
