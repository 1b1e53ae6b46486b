#include "agent/kernels/cpu/chase.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "agent/kernels/place/placement.h"

namespace muster::kernels {
namespace {

TEST(ChainTest, OneWalkVisitsEveryLineOnce) {
  for (const int64_t lines : {1, 2, 3, 4, 63, 1000, 4097}) {
    for (const uint64_t seed : {0, 1, 2}) {
      const Chain chain(lines, 0, seed);
      ASSERT_TRUE(chain.allocated());
      EXPECT_TRUE(chain.IsOneCycle()) << lines;
    }
  }
}

TEST(ChainTest, WalkingTakesTime) {
  Chain chain(4096, 0, 1);
  EXPECT_GT(chain.Walk(100000), 0);
}

TEST(ScopedBindingTest, GivesTheCpusBack) {
  const std::set<int> before = AllowedCpus();
  {
    const ScopedBinding binding({*before.begin()});
    EXPECT_EQ(CurrentPlace().cpu, *before.begin());
  }
  EXPECT_EQ(AllowedCpus(), before);
}

TEST(NumaNodesTest, ThisMachineHasANodeWithACpuOfOurs) {
  bool found = false;
  for (const NumaNode& node : NumaNodes()) {
    found = found || (!node.cpus.empty() && node.has_memory);
  }
  EXPECT_TRUE(found);
}

TEST(NumaNodesTest, ASystemThatTellsNothingIsOneNode) {
  const std::vector<NumaNode> nodes = NumaNodes("/nowhere");
  ASSERT_EQ(nodes.size(), 1U);
  EXPECT_FALSE(nodes[0].cpus.empty());
}

TEST(NumaNodesTest, MemoryWithoutProcessorsIsANode) {
  const std::string root = ::testing::TempDir() + "/numa_nodes";
  const std::string folder = root + "/sys/devices/system/node/";
  std::filesystem::create_directories(folder + "node0");
  std::filesystem::create_directories(folder + "node2");
  std::ofstream(folder + "online") << "0,2\n";
  std::ofstream(folder + "has_memory") << "0,2\n";
  std::ofstream(folder + "node0/cpulist") << "0-4095\n";
  std::ofstream(folder + "node2/cpulist") << "\n";
  const std::vector<NumaNode> nodes = NumaNodes(root);
  ASSERT_EQ(nodes.size(), 2U);
  EXPECT_EQ(nodes[0].id, 0);
  EXPECT_FALSE(nodes[0].cpus.empty());
  EXPECT_EQ(nodes[1].id, 2);
  EXPECT_TRUE(nodes[1].cpus.empty());
  EXPECT_TRUE(nodes[1].has_memory);
  std::filesystem::remove_all(root);
}

}  // namespace
}  // namespace muster::kernels
