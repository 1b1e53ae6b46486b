#include "topology/captured/topo_matrix.h"

#include <gtest/gtest.h>

#include <fstream>

#include "scheduler/model/machine/machine_check.h"
#include "scheduler/runtime/file.h"
#include "tests/unit/scheduler/runtime/temp_directory.h"
#include "tests/unit/topology/links.h"
#include "topology/captured/captured.h"

namespace muster::topology {
namespace {

using testing::GpuLink;
using testing::HasRemark;
using testing::NicLink;

std::string Fixture(const std::string& name) {
  return absl::StrCat(MUSTER_FIXTURES, "/topology/", name);
}

Machine Read(const std::string& source) {
  absl::StatusOr<Machine> machine = ReadCapturedMachine(source);
  EXPECT_TRUE(machine.ok()) << machine.status();
  return machine.ok() ? *std::move(machine) : Machine();
}

std::string ErrorOf(const std::string& table) {
  const absl::StatusOr<TopoMatrix> matrix = ParseTopoMatrix(table, "t.txt");
  EXPECT_FALSE(matrix.ok());
  return std::string(matrix.status().message());
}

constexpr const char* kPair =
    "\tGPU0\tGPU1\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\n"
    "GPU0\t X \tNV4\t0-3\t0\t\tN/A\n"
    "GPU1\tNV4\t X \t4-7\t1\t\tN/A\n";

TEST(TopoMatrix, ATableAloneIsAMachineOfThreads) {
  const Machine machine = Read(Fixture("8x4090-dual-socket.topo-m.txt"));
  EXPECT_EQ(machine.cores.size(), 224U);
  ASSERT_EQ(machine.numa_nodes.size(), 2U);
  EXPECT_EQ(machine.numa_nodes[1].cpus.ToList(), "56-111,168-223");
  ASSERT_EQ(machine.gpus.size(), 8U);
  EXPECT_EQ(machine.gpus[3].numa, 0U);
  EXPECT_EQ(machine.gpus[4].numa, 1U);
  EXPECT_EQ(GpuLink(machine, 0, 1), "SYS");
  EXPECT_EQ(NicLink(machine, 6, 0), "PHB");
  EXPECT_EQ(NicLink(machine, 7, 0), "SYS");
  EXPECT_EQ(machine.nics[0].numa, 1U);  // of the GPU that it shares a host bridge with
  EXPECT_TRUE(HasRemark(machine, "which threads share a core"));
}

TEST(TopoMatrix, JoinsItsLinksToAMachine) {
  const Machine machine = Read(Fixture("h200x4.xml") + "+" + Fixture("h200x4.topo_m.txt"));
  EXPECT_EQ(machine.cores.size(), 64U);
  ASSERT_EQ(machine.gpus.size(), 4U);
  EXPECT_EQ(machine.gpu_links.size(), 6U);
  for (const DeviceLink& link : machine.gpu_links) {
    EXPECT_EQ(link.lanes, 18U);
    EXPECT_EQ(link.bandwidth, 450'000U);
  }
  EXPECT_FALSE(HasRemark(machine, "which the machine has not")) << machine.remarks.size();
}

TEST(TopoMatrix, APlusInAFilesNameDoesNotJoin) {
  EXPECT_EQ(Read(Fixture("40intel64-2g2n4c+pcilocality.xml")).cores.size(), 40U);
}

TEST(TopoMatrix, JoinsToASyntheticMachineToo) {
  const TempDirectory directory;
  std::ofstream(directory / "links.txt") << kPair;
  const Machine machine = Read("numa:2 core:4+" + (directory / "links.txt"));
  EXPECT_EQ(machine.cores.size(), 8U);
  EXPECT_TRUE(machine.gpus.empty());
  EXPECT_TRUE(HasRemark(machine, "has GPU 0, which the machine has not"));
}

TEST(TopoMatrix, WhatContradictsTheMachineIsToldAndTheMachineStands) {
  const absl::StatusOr<TopoMatrix> matrix = ParseTopoMatrix(kPair, "t.txt");
  ASSERT_TRUE(matrix.ok()) << matrix.status();
  Machine machine = Read("numa:2 core:4");
  machine.gpus.push_back({0, "GPU-a", "NVIDIA H100", "", kGibibyte, 1, GpuVendor::kNvidia, "", ""});
  machine.gpus.push_back(
      {1, "GPU-b", "NVIDIA H100", "", kGibibyte, kNowhere, GpuVendor::kNvidia, "", ""});
  EXPECT_TRUE(JoinTopoMatrix(*matrix, machine).ok());
  EXPECT_TRUE(HasRemark(machine, "puts GPU 0 on NUMA node 0, the machine on 1"));
  EXPECT_EQ(machine.gpus[0].numa, 1U);
  EXPECT_EQ(machine.gpus[1].numa, 1U);  // what was open is filled in
  EXPECT_EQ(GpuLink(machine, 0, 1), "NV4");
  EXPECT_TRUE(CheckMachine(machine).ok()) << CheckMachine(machine);
}

TEST(TopoMatrix, ATableWithANumaNodeThatTheMachineHasNotIsRefused) {
  const absl::StatusOr<TopoMatrix> matrix = ParseTopoMatrix(kPair, "t.txt");
  ASSERT_TRUE(matrix.ok()) << matrix.status();
  Machine machine = Read("numa:1 core:4");
  machine.gpus.push_back({0, "GPU-a", "NVIDIA H100", "", kGibibyte, 0, GpuVendor::kNvidia, "", ""});
  machine.gpus.push_back({1, "GPU-b", "NVIDIA H100", "", kGibibyte, 0, GpuVendor::kNvidia, "", ""});
  EXPECT_EQ(JoinTopoMatrix(*matrix, machine).message(),
            "t.txt: GPU 1 is near NUMA node 1, which numa:1 core:4 has not: join the table to the "
            "machine that it was written on");
}

TEST(TopoMatrix, ATableIsOfNvidiasGpusAndItsLegendNamesFabricDevices) {
  const absl::StatusOr<TopoMatrix> matrix = ParseTopoMatrix(
      "\tGPU0\tNIC0\tNIC1\tCPU Affinity\tNUMA Affinity\n"
      "GPU0\t X \tPXB\tSYS\t0-3\tN/A\n"
      "NIC0\tPXB\t X \tSYS\n"
      "NIC1\tSYS\tSYS\t X \n\nNIC Legend:\n\n  NIC0: mlx5_0\n  NIC1: eth7\n",
      "t.txt");
  ASSERT_TRUE(matrix.ok()) << matrix.status();
  Machine machine = Read("numa:1 core:4");
  machine.gpus.push_back({0, "GPU-00aa", "MI300X", "", kGibibyte, 0, GpuVendor::kAmd, "", ""});
  machine.gpus.push_back({0, "GPU-b", "NVIDIA H100", "", kGibibyte, 0, GpuVendor::kNvidia, "", ""});
  ASSERT_TRUE(JoinTopoMatrix(*matrix, machine).ok());
  EXPECT_EQ(testing::NicLink(machine, 0, 0), "?");
  EXPECT_EQ(testing::NicLink(machine, 1, 0), "PXB");
  ASSERT_EQ(machine.nics.size(), 2U);
  EXPECT_TRUE(machine.nics[0].fabric);
  EXPECT_FALSE(machine.nics[1].fabric);
}

TEST(TopoMatrix, NicsGetTheNamesOfTheirLegend) {
  const absl::StatusOr<TopoMatrix> matrix = ParseTopoMatrix(
      "Sat Nov 21 2026\n"
      "\x1b[4m\tGPU0\tNIC0\tmlx5_9\tCPU Affinity\tNUMA Affinity\x1b[0m\n"
      "GPU0\t X \tPXB\tSYS\t0-3\tN/A\n"
      "NIC0\tPXB\t X \tSYS\n"
      "mlx5_9\tSYS\tSYS\t X \n\n"
      "Legend:\n\n  X    = Self\n  SYS  = Connection\n\nNIC Legend:\n\n  NIC0: mlx5_0\n",
      "t.txt");
  ASSERT_TRUE(matrix.ok()) << matrix.status();
  EXPECT_EQ(matrix->nics, (std::vector<std::string>{"mlx5_0", "mlx5_9"}));
  EXPECT_EQ(testing::LinkText(matrix->nic_links, 0, 0), "PXB");
  EXPECT_FALSE(matrix->gpus[0].numa.has_value());
}

TEST(TopoMatrix, TwoDirectionsThatDifferCountAsThePoorer) {
  const absl::StatusOr<TopoMatrix> matrix = ParseTopoMatrix(
      "\tGPU0\tGPU1\tCPU Affinity\nGPU0\tX\tNV4\t0-3\nGPU1\tNV2\tX\t0-3\n", "t.txt");
  ASSERT_TRUE(matrix.ok()) << matrix.status();
  EXPECT_EQ(testing::LinkText(matrix->gpu_links, 0, 1), "NV2");
  ASSERT_EQ(matrix->remarks.size(), 1U);
}

TEST(TopoMatrix, EveryBadTableIsOneLineWithItsPlace) {
  EXPECT_NE(ErrorOf("hello\n").find("t.txt:1: no table"), std::string::npos);
  const std::string head = "\tGPU0\tGPU1\tCPU Affinity\n";
  EXPECT_EQ(ErrorOf(head + "GPU0\tX\tNV4\t0-3\n").substr(0, 34),
            "t.txt:3: there is no row for GPU1:");
  EXPECT_NE(ErrorOf(head + "GPU0\tX\n").find("t.txt:2: the row of GPU0 has 1 cells for 2"),
            std::string::npos);
  EXPECT_NE(ErrorOf(head + "GPU0\tX\tFOO\t0-3\n").find("t.txt:2: \"FOO\" between GPU0 and GPU1"),
            std::string::npos);
  EXPECT_NE(ErrorOf(head + "GPU0\tX\tNV0\t0-3\n").find("\"NV0\""), std::string::npos);
  EXPECT_NE(ErrorOf(head + "GPU0\tNV4\tX\t0-3\n").find("\"NV4\" between GPU0 and GPU0"),
            std::string::npos);
  EXPECT_NE(ErrorOf(head + "GPU7\tX\tNV4\t0-3\n").find("t.txt:2: row \"GPU7\" is no column"),
            std::string::npos);
  EXPECT_NE(ErrorOf(head + "GPU0\tX\tPIX\t9-3\n").find("t.txt:2: \"9-3\" is no list of CPUs"),
            std::string::npos);
  EXPECT_NE(ErrorOf(head + "GPU0\tX\tPIX\t0\tzero\n").find("\"zero\" is no NUMA node"),
            std::string::npos);
  EXPECT_NE(ErrorOf(head + "GPU0\tX\tPIX\t0\nGPU0\tX\tPIX\t0\n").find("t.txt:3: a second row"),
            std::string::npos);
  EXPECT_NE(ErrorOf("\tGPU0\tGPU0\tCPU Affinity\n").find("two columns"), std::string::npos);
}

TEST(TopoMatrix, ATableWithoutThreadsIsNoMachine) {
  const absl::StatusOr<TopoMatrix> matrix = ParseTopoMatrix(
      "\tGPU0\tGPU1\tCPU Affinity\nGPU0\tX\tNV4\tN/A\nGPU1\tNV4\tX\tN/A\n", "t.txt");
  ASSERT_TRUE(matrix.ok()) << matrix.status();
  const absl::StatusOr<Machine> machine = MachineOf(*matrix);
  EXPECT_NE(machine.status().message().find("no GPU says its CPU affinity"), std::string::npos);
}

TEST(TopoMatrix, ACutTableIsNeverHalfLoaded) {
  const absl::StatusOr<std::string> whole = ReadFile(Fixture("8x4090-dual-socket.topo-m.txt"));
  ASSERT_TRUE(whole.ok());
  const std::size_t last_row = whole->rfind("NIC1\t");
  for (std::size_t size = 0; size < last_row + 30; size += 37) {
    EXPECT_FALSE(ParseTopoMatrix(whole->substr(0, size), "t.txt").ok()) << size;
  }
}

}  // namespace
}  // namespace muster::topology
