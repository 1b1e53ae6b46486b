// The fragmentation experiment: its rules on hand-made clusters, and the published figures where
// the trace is there.

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <utility>

#include "absl/strings/str_cat.h"
#include "tests/bench/packing_experiment.h"
#include "tests/bench/packing_tables.h"

namespace muster::sim {
namespace {

core::PackingClass Asks(std::uint32_t cpu, std::uint32_t gpus, std::uint32_t milli,
                        std::uint64_t count = 1) {
  return {cpu, gpus, milli, ~0ULL, count};
}

core::PackingRoom Room(std::uint32_t cpu, std::vector<std::uint32_t> gpus) {
  return {cpu, std::move(gpus), 0};
}

TEST(GpuPacking, FragmentsAreWhatAJobOfTheMixCannotUse) {
  const core::PackingMix mix({Asks(4000, 1, 500, 3), Asks(4000, 2, 1000, 2), Asks(1000, 0, 0, 1)});
  // Halves use both GPUs but the 300; pairs cannot run; a job without GPUs uses none.
  EXPECT_EQ(core::Fragmentation(Room(8000, {1000, 300}), mix), 3 * 300 + 2 * 1300 + 1 * 1300U);
  // Without cores nothing runs.
  EXPECT_EQ(core::Fragmentation(Room(0, {1000, 1000}), mix), 6 * 2000U);
  EXPECT_EQ(core::Fragmentation(Room(8000, {0, 0}), mix), 0U);
  core::PackingClass elsewhere = Asks(4000, 1, 500, 3);
  elsewhere.models = 2;
  EXPECT_EQ(core::Fragmentation(Room(8000, {1000}), core::PackingMix({elsewhere})), 3 * 1000U);
}

TEST(GpuPacking, APartGoesWhereItLeavesNoUselessRest) {
  const core::PackingMix mix({Asks(1000, 1, 500, 8), Asks(1000, 1, 1000, 2)});
  const core::PackingClass half = Asks(1000, 1, 500);
  EXPECT_EQ(core::CheapestGpu(Room(8000, {1000, 500}), half, mix).gpu, 1U);
  // Of two that are alike, the lower.
  EXPECT_EQ(core::CheapestGpu(Room(8000, {500, 500}), half, mix).gpu, 0U);
  // The emptier node costs more where nothing fragments.
  EXPECT_LT(core::CheapestGpu(Room(4000, {500}), half, mix).cost,
            core::CheapestGpu(Room(8000, {500}), half, mix).cost);
}

TEST(GpuPacking, APartGoesWhereTheCoresThatStayLastForTheGpusThatStay) {
  const core::PackingMix mix({Asks(4000, 1, 500, 8), Asks(500, 0, 0, 20)});
  const core::PackingClass half = Asks(4000, 1, 500);
  EXPECT_GT(core::CheapestGpu(Room(8000, {1000, 1000}), half, mix).cost,
            core::CheapestGpu(Room(16000, {1000, 1000}), half, mix).cost)
      << "one more fits on either, and then a GPU and a half stay idle on the former";
  const core::PackingMix no_gpus({Asks(500, 0, 0, 20)});
  EXPECT_LT(core::CheapestGpu(Room(8000, {1000, 1000}), half, no_gpus).cost,
            core::CheapestGpu(Room(16000, {1000, 1000}), half, no_gpus).cost);
}

TEST(GpuPacking, WholeGpusAreTheFreeOnesOfLowestIndex) {
  const core::PackingRoom room =
      core::Without(Room(8000, {500, 1000, 1000, 1000}), Asks(2000, 2, 1000), 0);
  EXPECT_EQ(room.gpus, (std::vector<std::uint32_t>{500, 0, 0, 1000}));
  EXPECT_EQ(room.cpu_milli, 6000U);
  EXPECT_FALSE(core::Holds(room, Asks(0, 2, 1000)));
  EXPECT_TRUE(core::Holds(room, Asks(6000, 1, 500)));
}

TEST(Packing, TheMixIsTheMostFrequentClassesUpToNinetyFivePercent) {
  std::vector<bench::PackingPod> pods(90, {Asks(1, 1, 500), 7});
  pods.insert(pods.end(), 5, {Asks(2, 1, 500), 7});
  pods.insert(pods.end(), 4, {Asks(3, 1, 500), 7});
  pods.insert(pods.end(), 1, {Asks(3, 1, 500), 8});
  const core::PackingMix typical = bench::TypicalMix(pods);
  const std::vector<core::PackingClass> mix(typical.begin(), typical.end());
  ASSERT_EQ(mix.size(), 2U);
  EXPECT_EQ(mix[0].count, 90U);
  EXPECT_EQ(mix[1].count, 5U);
}

bench::PackingCluster Small() {
  bench::PackingCluster cluster;
  for (const char* name : {"a", "b", "c", "d"}) {
    cluster.nodes.push_back({name, Room(32000, {1000, 1000, 1000, 1000}), 64000});
  }
  for (int i = 0; i < 6; ++i) {
    cluster.pods.push_back({Asks(2000, 1, i % 2 == 0 ? 700 : 300), 1000});
    cluster.pods.push_back({Asks(4000, 2, 1000), 1000});
  }
  return cluster;
}

TEST(Packing, EveryPolicyGivesAwayNoMoreThanThereIsAndRepeatsItself) {
  const bench::PackingCluster cluster = Small();
  for (const char* name : {"random", "bestfit", "fgd", "muster"}) {
    const bench::PackingPolicy policy = *bench::PackingPolicyOf(name);
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      const auto by_load = bench::AllocatedByLoad(cluster, policy, seed);
      ASSERT_FALSE(by_load.empty());
      double before = 0;
      for (const auto& [load, percent] : by_load) {
        EXPECT_GE(percent, before);
        EXPECT_LE(percent, 100);
        EXPECT_LE(percent, load + 0.5);
        before = percent;
      }
      EXPECT_LE(by_load.rbegin()->first, 130U);
      EXPECT_EQ(by_load, bench::AllocatedByLoad(cluster, policy, seed));
    }
  }
  EXPECT_FALSE(bench::PackingPolicyOf("worstfit").has_value());
}

class PackingTables : public ::testing::Test {
 protected:
  std::string Write(const std::string& name, const std::string& text) {
    const std::string path =
        absl::StrCat(::testing::TempDir(), "/packing_",
                     ::testing::UnitTest::GetInstance()->current_test_info()->name(), "_", name);
    std::ofstream(path) << text;
    return path;
  }
};

TEST_F(PackingTables, NodesWithoutGpusAreLeftOutAndSpecsAreModels) {
  const absl::StatusOr<bench::PackingCluster> cluster = bench::ReadPackingCluster(
      Write(
          "n.csv",
          "sn,cpu_milli,memory_mib,gpu,model\nn2,8000,100,2,T4\nn0,8000,100,0,\nn1,4000,50,1,G2\n"),
      Write("p.csv",
            "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec\np,1000,10,1,460,G2|X\nq,1,1,0,0,"
            "\n"));
  ASSERT_TRUE(cluster.ok()) << cluster.status();
  ASSERT_EQ(cluster->nodes.size(), 2U);
  EXPECT_EQ(cluster->nodes[0].name, "n1");
  EXPECT_EQ(cluster->nodes[1].room.gpus.size(), 2U);
  EXPECT_TRUE(core::Holds(cluster->nodes[0].room, cluster->pods[0].job));
  EXPECT_FALSE(core::Holds(cluster->nodes[1].room, cluster->pods[0].job));
  EXPECT_TRUE(core::Holds(cluster->nodes[1].room, cluster->pods[1].job));
}

TEST_F(PackingTables, WhatIsNoSuchTableIsNamedWithItsLine) {
  const std::string nodes = Write("n.csv", "sn,cpu_milli,memory_mib,gpu,model\nn,8000,100,2,T4\n");
  const std::string header = "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec\n";
  for (const auto& [text, says] :
       {std::pair<std::string, std::string>{header + "p,1,1,1,1001,\n",
                                            "p.csv:2: \"1001\" is not a number from 0 to 1000"},
        {header + "p,1,1,2,500,\n", "p.csv:2: several GPUs are whole"},
        {header + "p,1\n", "p.csv:2: 2 columns where the first line has 6"},
        {"name,cpu\n", "p.csv:1: no column cpu_milli"}}) {
    const auto cluster = bench::ReadPackingCluster(nodes, Write("p.csv", text));
    ASSERT_FALSE(cluster.ok());
    EXPECT_NE(cluster.status().message().find(says), std::string::npos) << cluster.status();
  }
  EXPECT_FALSE(bench::ReadPackingCluster(Write("e.csv", ""), nodes).ok());
}

// As openb's multigpu variants.
TEST_F(PackingTables, PodsOfATableWithoutSpecsMayRunOnAnyModel) {
  const absl::StatusOr<bench::PackingCluster> cluster = bench::ReadPackingCluster(
      Write("n.csv", "sn,cpu_milli,memory_mib,gpu,model\nn1,4000,50,1,G2\n"),
      Write("p.csv", "name,cpu_milli,memory_mib,num_gpu,gpu_milli\np,1000,10,1,460\n"));
  ASSERT_TRUE(cluster.ok()) << cluster.status();
  ASSERT_EQ(cluster->pods.size(), 1U);
  EXPECT_EQ(cluster->pods[0].job.models, ~0ULL);
  EXPECT_EQ(cluster->pods[0].job.gpu_milli, 460U);
}

TEST(Packing, TheOpenbTraceGivesThePublishedFigures) {
  const std::string folder = MUSTER_FIXTURES "/traces/";
  const auto cluster = bench::ReadPackingCluster(folder + "openb_all_nodes.csv.xz",
                                                 folder + "openb_all_pods.csv.xz");
  ASSERT_TRUE(cluster.ok()) << cluster.status();
  const auto mean = [&](bench::PackingPolicy policy) {
    double sum = 0;
    for (std::uint64_t seed = 42; seed < 52; ++seed) {
      sum += bench::AllocatedByLoad(*cluster, policy, seed).at(130);
    }
    return sum / 10;
  };
  EXPECT_NEAR(mean(bench::PackingPolicy::kRandom), 87.47, 0.3);
  EXPECT_NEAR(mean(bench::PackingPolicy::kBestFit), 93.08, 0.3);
  const double fgd = mean(bench::PackingPolicy::kFgd);
  EXPECT_NEAR(fgd, 95.39, 0.3);
  const double ours = mean(bench::PackingPolicy::kMuster);
  EXPECT_GT(ours, 95.39);
  EXPECT_GT(ours, fgd);
}

}  // namespace
}  // namespace muster::sim
