#include "topology/bind/read_back.h"

#include <gtest/gtest.h>
#include <unistd.h>

namespace muster::topology {
namespace {

PlannedBinding Plan() {
  PlannedBinding plan;
  plan.cpus = CpuSet::Of({2, 3});
  plan.mem_nodes = NumaSet::Of({1});
  plan.gpus = {"GPU-a", "GPU-b"};
  return plan;
}

ObservedBinding AsPlanned() {
  ObservedBinding found;
  found.cpus = CpuSet::Of({2, 3});
  found.mem_policy = "bind:1";
  found.gpus = std::vector<std::string>{"GPU-a", "GPU-b"};
  return found;
}

TEST(ReadBackTest, VerifiesWhatIsAsPlanned) {
  const RankBinding result = Compare(Plan(), AsPlanned());
  EXPECT_EQ(result.verdict, BindingVerdict::kVerified);
  EXPECT_EQ(result.text, "");
  EXPECT_EQ(result.cpus, CpuSet::Of({2, 3}));
  EXPECT_EQ(result.mem_policy, "bind:1");
}

TEST(ReadBackTest, NamesEveryDifference) {
  ObservedBinding found = AsPlanned();
  found.cpus = CpuSet::Of({2, 3, 4});
  found.mem_policy = "default";
  found.gpus = std::vector<std::string>{"GPU-b", "GPU-a"};
  const RankBinding result = Compare(Plan(), found);
  EXPECT_EQ(result.verdict, BindingVerdict::kDiffers);
  EXPECT_EQ(result.text,
            "cpus 2-4 instead of 2-3; memory default instead of bind:1; GPUs GPU-b,GPU-a instead "
            "of GPU-a,GPU-b");
}

TEST(ReadBackTest, AcceptsAnyPolicyWhereThereIsOneMemoryNode) {
  PlannedBinding plan = Plan();
  plan.one_memory_node = true;
  ObservedBinding found = AsPlanned();
  found.mem_policy = "default";
  const RankBinding result = Compare(plan, found);
  EXPECT_EQ(result.verdict, BindingVerdict::kVerified);
  EXPECT_NE(result.text, "");
}

TEST(ReadBackTest, SaysWhenAPartCouldNotBeRead) {
  ObservedBinding found = AsPlanned();
  found.mem_policy.reset();
  EXPECT_EQ(Compare(Plan(), found).verdict, BindingVerdict::kUnreadable);
}

TEST(ReadBackTest, NeverCallsAPlayedMachineVerified) {
  PlannedBinding plan = Plan();
  plan.enforced = false;
  plan.why_not_enforced = "played";
  const RankBinding result = Compare(plan, AsPlanned());
  EXPECT_EQ(result.verdict, BindingVerdict::kNotEnforced);
  EXPECT_EQ(result.text, "played");
}

TEST(ReadBackTest, ReadsTheFilesOfProc) {
  EXPECT_EQ(PolicyOfNumaMaps("55d0 bind:0-1 file=/bin/cat mapped=2\n55e0 default\n"), "bind:0-1");
  EXPECT_EQ(PolicyOfNumaMaps(""), std::nullopt);
  using std::string_literals::operator""s;
  EXPECT_EQ(GpusOfEnviron("A=1\0CUDA_VISIBLE_DEVICES=x,y\0B=2\0"s),
            (std::vector<std::string>{"x", "y"}));
  EXPECT_EQ(GpusOfEnviron("A=1\0CUDA_VISIBLE_DEVICES=\0"s), std::vector<std::string>());
  EXPECT_EQ(GpusOfEnviron(""), std::nullopt);
}

TEST(ReadBackTest, ReadsALivingProcess) {
  const ObservedBinding found = ReadBack(getpid()).value();
  EXPECT_TRUE(found.cpus.has_value());
  EXPECT_TRUE(found.gpus.has_value());
  EXPECT_TRUE(absl::IsNotFound(ReadBack(0x3fffffff).status()));
}

}  // namespace
}  // namespace muster::topology
