#include "agent/kernels/harness/node_facts.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <tuple>

namespace muster::kernels {
namespace {

TEST(NodeFactsTest, TheLargestDataCacheIsTheLast) {
  const std::string root = ::testing::TempDir() + "/node_facts";
  const std::string folder = root + "/sys/devices/system/cpu/cpu0/cache/";
  for (const auto& [index, type, size] :
       {std::tuple("0", "Data", "32K"), std::tuple("1", "Instruction", "64M"),
        std::tuple("2", "Unified", "512K"), std::tuple("3", "Unified", "24M")}) {
    std::filesystem::create_directories(folder + "index" + index);
    std::ofstream(folder + "index" + index + "/type") << type << "\n";
    std::ofstream(folder + "index" + index + "/size") << size << "\n";
  }
  EXPECT_EQ(LastLevelCacheBytes(root), 24 << 20);
  std::filesystem::remove_all(root);
}

TEST(NodeFactsTest, ASystemThatTellsNothingGetsAUsualCache) {
  EXPECT_EQ(LastLevelCacheBytes("/nowhere"), 32 << 20);
  EXPECT_EQ(CpuModel("/nowhere"), "unknown");
}

TEST(NodeFactsTest, ThisHostHasAName) {
  EXPECT_NE(HostName(), "");
}

}  // namespace
}  // namespace muster::kernels
