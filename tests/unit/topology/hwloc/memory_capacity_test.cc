#include "topology/hwloc/memory_capacity.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "tests/unit/scheduler/runtime/temp_directory.h"

namespace muster::topology {
namespace {

Machine WithNodes(std::initializer_list<std::uint64_t> gibibytes) {
  Machine machine;
  for (const std::uint64_t size : gibibytes) {
    const auto number = static_cast<std::uint32_t>(machine.numa_nodes.size());
    machine.numa_nodes.push_back({number, {}, kGibibyte * size});
  }
  return machine;
}

TEST(MemoryCapacity, NodesThatAgreeWithMeminfoStand) {
  Machine machine = WithNodes({100, 50});
  SettleMemory({.total = kGibibyte * 149, .limit = std::nullopt}, machine);
  EXPECT_EQ(machine.memory, kGibibyte * 150);
  EXPECT_TRUE(machine.remarks.empty());
}

TEST(MemoryCapacity, MeminfoWinsOverNodesThatReadLow) {
  Machine machine = WithNodes({4, 2});
  SettleMemory({.total = kGibibyte * 60, .limit = std::nullopt}, machine);
  EXPECT_EQ(machine.memory, kGibibyte * 60);
  EXPECT_EQ(machine.numa_nodes[0].memory, kGibibyte * 40);
  EXPECT_EQ(machine.numa_nodes[1].memory, kGibibyte * 20);
  ASSERT_EQ(machine.remarks.size(), 1U);
  EXPECT_EQ(machine.remarks[0],
            "the NUMA nodes say 6 GiB of memory, /proc/meminfo 60 GiB: the latter is used");
}

TEST(MemoryCapacity, TheControlGroupsLimitBindsNodesToo) {
  Machine machine = WithNodes({100, 100});
  SettleMemory({.total = kGibibyte * 200, .limit = kGibibyte * 8}, machine);
  EXPECT_EQ(machine.memory, kGibibyte * 8);
  EXPECT_EQ(machine.numa_nodes[0].memory, kGibibyte * 4);
  EXPECT_EQ(machine.remarks.size(), 1U);
}

TEST(MemoryCapacity, TheOnlyNodeGetsAllWhenItSaysNothing) {
  Machine machine = WithNodes({0});
  SettleMemory({.total = kGibibyte * 7, .limit = std::nullopt}, machine);
  EXPECT_EQ(machine.numa_nodes[0].memory, kGibibyte * 7);
  EXPECT_EQ(machine.memory, kGibibyte * 7);
}

TEST(MemoryCapacity, ReadsMemTotal) {
  EXPECT_EQ(ParseMemTotal("MemTotal:       24682416 kB\nMemFree: 1 kB\n"),
            Bytes(std::uint64_t{24682416} * 1024));
  EXPECT_EQ(ParseMemTotal("MemTotal: 100 kB\nHugepagesize: 2048 kB\nHugetlb: 40 kB\n"),
            Bytes(60 * 1024))
      << "what lies in pools of huge pages is no memory for others";
  EXPECT_EQ(ParseMemTotal("MemFree: 1 kB\n"), std::nullopt);
  EXPECT_EQ(ParseMemTotal("MemTotal:"), std::nullopt);
}

class MemoryLimit : public ::testing::Test {
 protected:
  void Write(const std::string& path, const std::string& content) {
    const std::filesystem::path whole = directory_ / path;
    std::filesystem::create_directories(whole.parent_path());
    std::ofstream(whole) << content;
  }
  TempDirectory directory_;
};

TEST_F(MemoryLimit, TheTightestGroupAboveUsCounts) {
  Write("a/memory.max", "4096\n");
  Write("a/b/memory.max", "max\n");
  Write("a/b/c/memory.max", "8192\n");
  EXPECT_EQ(ReadMemoryLimit("0::/a/b/c\n", directory_.path()), Bytes(4096));
  EXPECT_EQ(ReadMemoryLimit("0::/\n", directory_.path()), std::nullopt);
  EXPECT_EQ(ReadMemoryLimit("", directory_.path()), std::nullopt);
}

TEST_F(MemoryLimit, VersionOneIsReadAndItsWordForUnlimitedKnown) {
  Write("memory/memory.limit_in_bytes", "9223372036854771712\n");
  EXPECT_EQ(ReadMemoryLimit("4:memory:/j\n2:cpu:/\n", directory_.path()), std::nullopt);
  Write("memory/j/memory.limit_in_bytes", "1048576\n");
  EXPECT_EQ(ReadMemoryLimit("4:cpu,memory:/j\n0::/\n", directory_.path()), Bytes(1048576));
}

}  // namespace
}  // namespace muster::topology
