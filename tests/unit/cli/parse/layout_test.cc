#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/parse/request/rank_layout.h"

namespace muster::cli {
namespace {

using ::testing::HasSubstr;

TEST(Distribution, SaysNodesThenSockets) {
  RankLayout layout;
  ASSERT_TRUE(ParseDistribution("cyclic:block", &layout).ok());
  EXPECT_EQ(layout.nodes, Dealing::kCyclic);
  EXPECT_EQ(layout.sockets, Dealing::kBlock);
  ASSERT_TRUE(ParseDistribution("plane=4", &layout).ok());
  EXPECT_EQ(layout.nodes, Dealing::kPlane);
  EXPECT_EQ(layout.plane, 4U);
  EXPECT_EQ(layout.sockets, Dealing::kUnsaid);
  ASSERT_TRUE(ParseDistribution("*:fcyclic", &layout).ok());
  EXPECT_EQ(layout.sockets, Dealing::kFcyclic);
  for (const char* wrong : {"", "plane", "plane=0", "fcyclic", "block:plane", "block:", "Block"}) {
    RankLayout untouched;
    EXPECT_FALSE(ParseDistribution(wrong, &untouched).ok()) << wrong;
    EXPECT_EQ(untouched, RankLayout()) << wrong;
  }
}

TEST(CpuBind, ListsAreNumbersOrMasks) {
  RankLayout layout;
  ASSERT_TRUE(ParseCpuBind("map_cpu:0,12", &layout).ok());
  EXPECT_EQ(layout.cpu_list, std::vector<CpuSet>({CpuSet::Of({0}), CpuSet::Of({12})}));
  ASSERT_TRUE(ParseCpuBind("mask_cpu:0x3,F0,0x100000000000000000", &layout).ok());
  EXPECT_EQ(layout.cpu_list,
            std::vector<CpuSet>({CpuSet::Of({0, 1}), CpuSet::Of({4, 5, 6, 7}), CpuSet::Of({68})}));
  ASSERT_TRUE(ParseCpuBind("sockets", &layout).ok());
  EXPECT_EQ(layout.cpu_bind, CpuBind::kSockets);
  EXPECT_TRUE(layout.cpu_list.empty());
  EXPECT_THAT(std::string(ParseCpuBind("mask_cpu:0x3,zz", &layout).message()),
              HasSubstr("\"zz\" is not a mask"));
  EXPECT_THAT(std::string(ParseCpuBind("map_cpu", &layout).message()), HasSubstr("needs a list"));
  EXPECT_THAT(std::string(ParseCpuBind("cores:1", &layout).message()), HasSubstr("takes no list"));
  EXPECT_THAT(std::string(ParseCpuBind("cpus", &layout).message()), HasSubstr("is not one of"));
  EXPECT_FALSE(ParseCpuBind("mask_cpu:0x0", &layout).ok());
}

TEST(MemBind, KnowsSlurmsWords) {
  RankLayout layout;
  ASSERT_TRUE(ParseMemBind("map_mem:1,0", &layout).ok());
  EXPECT_EQ(layout.mem_list, std::vector<NumaSet>({NumaSet::Of({1}), NumaSet::Of({0})}));
  EXPECT_TRUE(ParseMemBind("local", &layout).ok());
  EXPECT_FALSE(ParseMemBind("near", &layout).ok());
}

TEST(Parallel, EachGroupIsSaidOnceAtMost) {
  RankLayout layout;
  ASSERT_TRUE(ParseParallel("tp=8,pp=4,dp=2", &layout).ok());
  EXPECT_EQ(layout.parallel, (ParallelGroups{8, 4, 2, 0, 0, 0}));
  ASSERT_TRUE(ParseParallel("pp=2", &layout).ok());
  EXPECT_EQ(layout.parallel, (ParallelGroups{0, 2, 0, 0, 0, 0}));
  ASSERT_TRUE(ParseParallel("tp=2,cp=4,dp=8,ep=2,shard=8", &layout).ok());
  EXPECT_EQ(layout.parallel, (ParallelGroups{2, 0, 8, 4, 2, 8}));
  for (const char* wrong : {"", "tp", "tp=", "tp=0", "tp=2,tp=2", "sp=2", "ep=0", "shard=2,shard=2",
                            "tp=2,,pp=2", "8,4"}) {
    EXPECT_FALSE(ParseParallel(wrong, &layout).ok()) << wrong;
  }
}

TEST(Grid, IsSaidByItsSizes) {
  RankLayout layout;
  ASSERT_TRUE(ParseGrid("4x2x2", &layout).ok());
  EXPECT_EQ(layout.grid, (std::vector<std::uint32_t>{4, 2, 2}));
  ASSERT_TRUE(ParseGrid("8", &layout).ok());
  EXPECT_EQ(layout.grid, std::vector<std::uint32_t>{8});
  for (const char* wrong : {"", "x", "4x", "x4", "4x0", "4,2", "4*2", "-4x2", "4x2.5"}) {
    EXPECT_FALSE(ParseGrid(wrong, &layout).ok()) << wrong;
  }
}

TEST(Hint, LeavesAnExplicitBindingAlone) {
  RankLayout layout;
  ASSERT_TRUE(ParseHint("multithread", &layout).ok());
  EXPECT_EQ(layout.cpu_bind, CpuBind::kThreads);
  layout.cpu_bind = CpuBind::kSockets;
  ASSERT_TRUE(ParseHint("compute_bound", &layout).ok());
  EXPECT_EQ(layout.cpu_bind, CpuBind::kSockets);
  EXPECT_FALSE(ParseHint("io_bound", &layout).ok());
}

TEST(Hint, HoldsTasksApartAndCountsCores) {
  RankLayout layout;
  ASSERT_TRUE(ParseHint("memory_bound", &layout).ok());
  EXPECT_EQ(layout.tasks_per_socket, 1U);
  ASSERT_TRUE(ParseHint("nomultithread", &layout).ok());
  EXPECT_EQ(layout.threads_per_core, 1U);
  EXPECT_EQ(layout.cpu_bind, CpuBind::kUnsaid);
}

TEST(GpuBind, KnowsSlurmsWords) {
  RankLayout layout;
  ASSERT_TRUE(ParseGpuBind("closest", &layout).ok());
  EXPECT_EQ(layout.gpu_bind, GpuBind::kClosest);
  ASSERT_TRUE(ParseGpuBind("single:2", &layout).ok());
  EXPECT_EQ(layout.gpu_bind, GpuBind::kSingle);
  EXPECT_EQ(layout.gpu_bind_count, 2U);
  ASSERT_TRUE(ParseGpuBind("verbose,per_task:1", &layout).ok());
  EXPECT_EQ(layout.gpu_bind, GpuBind::kPerTask);
  ASSERT_TRUE(ParseGpuBind("map_gpu:0,2", &layout).ok());
  EXPECT_EQ(layout.gpu_list, std::vector<GpuSet>({GpuSet::Of({0}), GpuSet::Of({2})}));
  ASSERT_TRUE(ParseGpuBind("mask_gpu:0x3,0x8", &layout).ok());
  EXPECT_EQ(layout.gpu_list, std::vector<GpuSet>({GpuSet::Of({0, 1}), GpuSet::Of({3})}));
  for (const char* wrong : {"", "nearest", "per_task", "per_task:0", "single:", "closest:1",
                            "map_gpu", "map_gpu:x", "mask_gpu:0"}) {
    RankLayout untouched;
    EXPECT_FALSE(ParseGpuBind(wrong, &untouched).ok()) << wrong;
    EXPECT_EQ(untouched, RankLayout()) << wrong;
  }
}

}  // namespace
}  // namespace muster::cli
