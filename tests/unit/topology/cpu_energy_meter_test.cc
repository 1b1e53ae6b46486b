#include "topology/cpu_energy_meter.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "tests/unit/scheduler/runtime/temp_directory.h"

namespace muster::topology {
namespace {

// A powercap tree, as /sys/class/powercap has it.
class Powercap {
 public:
  void Add(const std::string& zone, const std::string& name, std::uint64_t range) const {
    std::filesystem::create_directories(directory_ / zone);
    std::ofstream(directory_ / (zone + "/name")) << name << "\n";
    std::ofstream(directory_ / (zone + "/max_energy_range_uj")) << range << "\n";
    Set(zone, 0);
  }
  void Set(const std::string& zone, std::uint64_t microjoules) const {
    std::ofstream(directory_ / (zone + "/energy_uj")) << microjoules << "\n";
  }
  void Remove(const std::string& path) const { std::filesystem::remove_all(directory_ / path); }
  [[nodiscard]] std::string root() const { return directory_ / ""; }

 private:
  TempDirectory directory_;
};

TEST(CpuEnergyMeter, PackagesAddUpAndTheirPartsDoNotCountTwice) {
  const Powercap tree;
  tree.Add("intel-rapl:0", "package-0", 1000);
  tree.Add("intel-rapl:1", "package-1-die-0", 1000);
  tree.Add("intel-rapl:0:0", "dram", 1000);
  tree.Add("intel-rapl:2", "psys", 1000);
  tree.Add("intel-rapl-mmio:0", "package-0", 1000);
  tree.Add("dtpm", "package-0", 1000);
  tree.Set("intel-rapl:0", 500);
  const auto meter = CpuEnergyMeter::Open(tree.root());
  ASSERT_NE(meter, nullptr);
  EXPECT_EQ(meter->Read(), 0U) << "what was before is not told";
  for (const char* zone :
       {"intel-rapl:0", "intel-rapl:0:0", "intel-rapl:2", "intel-rapl-mmio:0", "dtpm"}) {
    tree.Set(zone, 530);
  }
  tree.Set("intel-rapl:1", 12);
  EXPECT_EQ(meter->Read(), 42U);
}

TEST(CpuEnergyMeter, ACounterThatPassesItsRangeGoesOn) {
  const Powercap tree;
  tree.Add("intel-rapl:0", "package-0", 1000);
  tree.Set("intel-rapl:0", 990);
  const auto meter = CpuEnergyMeter::Open(tree.root());
  ASSERT_NE(meter, nullptr);
  tree.Set("intel-rapl:0", 20);
  EXPECT_EQ(meter->Read(), 30U);
}

TEST(CpuEnergyMeter, ACounterThatDoesNotAnswerForAWhileLosesNothing) {
  const Powercap tree;
  tree.Add("intel-rapl:0", "package-0", 1000);
  const auto meter = CpuEnergyMeter::Open(tree.root());
  ASSERT_NE(meter, nullptr);
  tree.Remove("intel-rapl:0/energy_uj");
  EXPECT_EQ(meter->Read(), 0U);
  tree.Set("intel-rapl:0", 70);
  EXPECT_EQ(meter->Read(), 70U);
}

TEST(CpuEnergyMeter, WhereNoPackageCanBeReadThereIsNone) {
  const Powercap tree;
  EXPECT_EQ(CpuEnergyMeter::Open(tree.root()), nullptr);
  EXPECT_EQ(CpuEnergyMeter::Open(tree.root() + "/nowhere"), nullptr);
  tree.Add("intel-rapl:0:0", "core", 1000);
  tree.Add("intel-rapl:1", "package-1", 1000);
  tree.Remove("intel-rapl:1/max_energy_range_uj");
  EXPECT_EQ(CpuEnergyMeter::Open(tree.root()), nullptr);
}

}  // namespace
}  // namespace muster::topology
