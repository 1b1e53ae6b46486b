#include "cli/sheet/machine_tree.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/cli/render/samples.h"

namespace muster::cli {
namespace {

using samples::Golden;
using samples::SampleNode;

std::string Draw(const NodeView& node, const Style& style = {}) {
  return PrintTree(MachineTree(node, style), style);
}

TEST(MachineTree, ASmallMachineShowsTheHolderOfEachCore) {
  EXPECT_EQ(Draw(SampleNode(3)), Golden("topo_small.txt"));
}

TEST(MachineTree, ALargeMachineFoldsRunsOfCoresWithOneHolder) {
  EXPECT_EQ(Draw(SampleNode(96)), Golden("topo_large.txt"));
}

TEST(MachineTree, WithoutUtf8ItIsAscii) {
  Style style;
  style.utf8 = false;
  const std::string page = Draw(SampleNode(3), style);
  EXPECT_EQ(page, Golden("topo_ascii.txt"));
  EXPECT_TRUE(std::all_of(page.begin(), page.end(), [](char c) { return c > 0; }));
}

TEST(MachineTree, SaysHowTheGpusAreJoined) {
  NodeView node = SampleNode(1);
  node.machine.gpus.assign(3, Gpu());
  for (std::uint32_t i = 0; i < 3; ++i) {
    node.machine.gpus[i].os_index = i;
  }
  node.machine.gpu_links = {{0, 1, LinkKind::kNvLink, 18, 0},
                            {0, 2, LinkKind::kNvLink, 18, 0},
                            {1, 2, LinkKind::kNvLink, 18, 0}};
  EXPECT_NE(Draw(node).find("every two GPUs: NV18\n"), std::string::npos);
  node.machine.gpu_links[1].kind = LinkKind::kSystem;
  node.machine.gpu_links[1].lanes = 0;
  EXPECT_NE(Draw(node).find("GPU 0 to GPU 1 NV18, GPU 2 SYS\n"), std::string::npos);
}

TEST(MachineTree, DiesStandBetweenTheNumaNodeAndTheCache) {
  NodeView node = SampleNode(2);
  Machine& machine = node.machine;
  machine.dies = {{4, 0, machine.cores[0].cpus}, {5, 0, machine.cores[1].cpus}};
  const std::string page = Draw(node);
  const std::size_t numa = page.find("NUMA 0");
  const std::size_t die = page.find("die 4\n");
  const std::size_t cache = page.find("L3 ");
  EXPECT_LT(numa, die);
  EXPECT_LT(die, cache);
  EXPECT_NE(page.find("die 5\n"), std::string::npos);
}

TEST(MachineTree, InstancesOfOneGpuAreToldApartAndMpsIsNamed) {
  NodeView node = SampleNode(1);
  node.machine.gpus.clear();
  for (const char* uuid : {"MIG-1", "MIG-2"}) {
    node.machine.gpus.push_back({0, uuid, "A100 MIG 1g.5gb", "0000:3b:00.0", kGibibyte * 5, 0,
                                 GpuVendor::kNvidia, "1g.5gb", "GPU-a"});
  }
  node.machine.gpu_links.clear();
  node.machine.nic_links.clear();
  node.machine.mps = "/tmp/nvidia-mps";
  const std::string page = Draw(node);
  EXPECT_NE(page.find("GPU 0  A100 MIG 1g.5gb  5 GiB  0000:3b:00.0  MIG-1  "), std::string::npos)
      << page;
  EXPECT_NE(page.find("MIG-2  "), std::string::npos);
  EXPECT_NE(page.find("CUDA MPS  /tmp/nvidia-mps\n"), std::string::npos);
}

TEST(MachineTree, WhoUsesAGpuOutsideOfJobsIsShownWithIt) {
  NodeView node = SampleNode(3);
  node.gpu_occupants = {{0, 4711, "alice", "python", Bytes(std::uint64_t{12} << 30U)}};
  EXPECT_NE(Draw(node).find("  used outside Muster by pid 4711 (alice, python, 12 GiB)  "),
            std::string::npos)
      << Draw(node);
}

TEST(MachineTree, WhoHasAPartOfAGpuIsShownWithIt) {
  NodeView node = SampleNode(3);
  node.holders[0].gpu_shares = {{0, GpuShare(500)}};
  node.holders[1].gpus = {0};
  node.holders[1].gpu_shares = {{0, GpuShare(250)}};
  const std::string page = Draw(node);
  EXPECT_NE(page.find("  0.5 of it: job 7 alice, 0.25 of it: job 99 (quarantined)\n"),
            std::string::npos)
      << page;
  node.holders.resize(1);
  node.holders[0].gpu_shares = {{0, kWholeGpu}};
  EXPECT_EQ(Draw(node).find("of it"), std::string::npos) << "a whole GPU needs no word";
}

TEST(MachineTree, LinksOfAmdsGpusAreCalledByTheirName) {
  NodeView node = SampleNode(1);
  node.machine.gpus.assign(2, {0, "GPU-0", "MI300X", "", Bytes(), 0, GpuVendor::kAmd, "", ""});
  node.machine.gpus[1].os_index = 1;
  node.machine.gpu_links = {{0, 1, LinkKind::kNvLink, 0, 100'000}};
  EXPECT_NE(Draw(node).find("every two GPUs: XGMI\n"), std::string::npos);
}

TEST(MachineTree, ARecordedBindingIsSaidInTheFirstLine) {
  NodeView node = SampleNode(1);
  node.binding = "recorded, not enforced (it plays dgx.xml)";
  EXPECT_NE(MachineTree(node, {}).text.find("binding recorded, not enforced (it plays dgx.xml)"),
            std::string::npos);
}

// Nothing known but cores; devices near nowhere; memory without cores; an L3 over two NUMA nodes.
TEST(MachineTree, WhatHasNoPlaceHangsFromTheNode) {
  NodeView node = SampleNode(2);
  Machine& machine = node.machine;
  machine.gpus[1].numa = kNowhere;
  machine.nics[1].numa = 77;
  machine.numa_nodes.push_back({.os_index = 2, .cpus = {}, .memory = kGibibyte * 16});
  machine.numa_nodes[0].memory = Bytes(0);
  machine.l3_caches[0].cpus |= machine.l3_caches[1].cpus;
  machine.cores[2].l3 = machine.cores[3].l3 = 0;
  machine.cores[3].package = machine.cores[3].numa = machine.cores[3].l3 = kNowhere;
  machine.remarks = {"no NVML: libnvidia-ml.so.1 is not there"};
  EXPECT_EQ(Draw(node), Golden("topo_odd.txt"));
}

TEST(MachineTree, EveryCoreIsOnOneLine) {
  for (const std::uint32_t cores : {1U, 8U, 9U, 64U}) {
    std::vector<const Tree*> open;
    const Tree root = MachineTree(SampleNode(cores), {});
    open.push_back(&root);
    CpuSet seen;
    std::uint32_t count = 0;
    while (!open.empty()) {
      const Tree* tree = open.back();
      open.pop_back();
      const std::size_t begin = tree->text.find("(cpus ");
      if (tree->text.rfind("core", 0) == 0 && begin != std::string::npos) {
        const std::size_t end = tree->text.find(')', begin);
        const auto cpus = CpuSet::Parse(tree->text.substr(begin + 6, end - begin - 6));
        ASSERT_TRUE(cpus.ok()) << tree->text;
        count += cpus->Count();
        seen |= *cpus;
      }
      for (const Tree& child : tree->children) {
        open.push_back(&child);
      }
    }
    EXPECT_EQ(count, cores * 4);
    EXPECT_EQ(seen, AllCpus(SampleNode(cores).machine));
  }
}

}  // namespace
}  // namespace muster::cli
