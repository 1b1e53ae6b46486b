// The largest job that would start now, by model of GPU.
#include "scheduler/core/place/worth/largest_gpu_job.h"

#include <gtest/gtest.h>

#include "tests/unit/scheduler/core/builders.h"

namespace muster::core {
namespace {

using testing::MakeMachine;
using testing::MakeNetwork;
using testing::MakeNode;
using testing::Shape;

const Shape kFour{.numa = 2, .cores = 4, .gpus = 2};

// GPUs 0 and 1, and 2 and 3, are joined by NVLink.
NodeSnapshot InPairs(std::uint32_t id) {
  NodeSnapshot node = MakeNode(id, kFour);
  Machine machine = MakeMachine(kFour);
  machine.gpu_links = {{0, 1, LinkKind::kNvLink, 4, 0}, {2, 3, LinkKind::kNvLink, 4, 0}};
  node.machine = std::make_shared<const Machine>(std::move(machine));
  return node;
}

TEST(LargestGpuJob, WhatIsFreeIsToldByNodeByNvlinkByLeafAndInAll) {
  std::vector<NodeSnapshot> nodes = {InPairs(1), InPairs(2), InPairs(3)};
  nodes[0].taken.gpus[0] = kWholeGpu;
  nodes[1].taken.gpus[1] = GpuShare(250);
  nodes[1].taken.gpus[3] = kWholeGpu;
  const std::vector<LargestGpuJob> all = LargestGpuJobs(nodes, MakeNetwork(3, 2).get());
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].model, "NVIDIA A100-SXM4-40GB");
  EXPECT_EQ(all[0].gpus, 12U);
  EXPECT_EQ(all[0].free, 9U);
  EXPECT_EQ(all[0].on_node, 4U);
  EXPECT_EQ(all[0].on_nvlink, 2U);
  EXPECT_EQ(all[0].on_leaf, 5U);
  EXPECT_EQ(all[0].anywhere, 9U);
}

TEST(LargestGpuJob, AGpuWithoutACoreIsOfNoUse) {
  std::vector<NodeSnapshot> nodes = {InPairs(1)};
  nodes[0].taken.cpus = testing::Cpus("0-6");
  const std::vector<LargestGpuJob> all = LargestGpuJobs(nodes, nullptr);
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].free, 4U);
  EXPECT_EQ(all[0].on_node, 1U);
  EXPECT_EQ(all[0].anywhere, 1U);
  EXPECT_EQ(all[0].on_leaf, 0U);
}

TEST(LargestGpuJob, NodesOutOfServiceDoNotCountAndModelsAreToldApart) {
  Shape other = kFour;
  other.gpu_model = "NVIDIA H200";
  std::vector<NodeSnapshot> nodes = {InPairs(1), MakeNode(2, other), InPairs(3)};
  nodes[0].drained = true;
  nodes[2].up = false;
  const std::vector<LargestGpuJob> all = LargestGpuJobs(nodes, nullptr);
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].model, "NVIDIA H200");
  EXPECT_EQ(all[0].on_nvlink, 1U) << "no link is known";
}

}  // namespace
}  // namespace muster::core
