// What a placement is worth, beside one without topology.
#include "scheduler/core/place/worth/placement_quality.h"

#include <gtest/gtest.h>

#include "scheduler/core/place/nodes/node_selection.h"
#include "scheduler/core/state/tables/node_use.h"
#include "tests/unit/scheduler/core/builders.h"

namespace muster::core {
namespace {

using testing::MakeMachine;
using testing::MakeNetwork;
using testing::MakeNode;

ResourceRequest TwoGpus() {
  ResourceRequest request = testing::Tasks(2);
  request.gpus_per_task.count = 1;
  request.max_nodes = 1;
  return testing::Asks(request);
}

// Four GPUs of which 0 and 2, and 1 and 3, are joined by NVLink: blocks take 0 and 1.
NodeSnapshot Crossed() {
  NodeSnapshot node = MakeNode(1, {.numa = 1, .cores = 8, .gpus = 4});
  Machine machine = MakeMachine({.numa = 1, .cores = 8, .gpus = 4});
  machine.gpu_links = {{0, 1, LinkKind::kSystem, 0, 0},  {0, 2, LinkKind::kNvLink, 12, 0},
                       {0, 3, LinkKind::kSystem, 0, 0},  {1, 2, LinkKind::kSystem, 0, 0},
                       {1, 3, LinkKind::kNvLink, 12, 0}, {2, 3, LinkKind::kSystem, 0, 0}};
  node.machine = std::make_shared<const Machine>(std::move(machine));
  return node;
}

TEST(PlacementQuality, CollectivesAreToldHereAndWithoutTopology) {
  std::vector<NodeSnapshot> nodes = {Crossed()};
  const Allocation allocation = *PlaceJob(nodes, TwoGpus(), ClusterView::kAsIs);
  ASSERT_EQ(allocation.nodes[0].gpus[1].gpu, 2U);
  // The job runs: what it has is no obstacle to the placement it is compared with.
  AddUse(nodes[0].taken, *nodes[0].machine, allocation.nodes[0]);
  Holding holding;
  holding.job = JobId(7);
  holding.cpus = allocation.nodes[0].cpus;
  holding.gpus = allocation.nodes[0].gpus;
  nodes[0].holdings.push_back(holding);
  PlacementQuality worth = WorthOf(allocation, nodes, nullptr);
  EXPECT_EQ(worth.ranks, 2U);
  EXPECT_EQ(worth.local_ranks, 2U);
  EXPECT_EQ(worth.span, "");
  ASSERT_EQ(worth.predicted.size(), 3U);
  EXPECT_EQ(worth.predicted[0].name, "allreduce");
  EXPECT_EQ(worth.predicted[0].default_nanoseconds, 0U);
  Compare(JobId(7), allocation, TwoGpus(), nodes, nullptr, worth);
  for (const PredictedCollective& predicted : worth.predicted) {
    EXPECT_GT(predicted.nanoseconds, 0U) << predicted.name;
    EXPECT_GT(predicted.default_nanoseconds, 2 * predicted.nanoseconds) << predicted.name;
  }
}

TEST(PlacementQuality, OneRankSendsNothing) {
  const std::vector<NodeSnapshot> nodes = {Crossed()};
  const Allocation allocation =
      *PlaceJob(nodes, testing::Asks(testing::Tasks(1)), ClusterView::kAsIs);
  EXPECT_TRUE(WorthOf(allocation, nodes, nullptr).predicted.empty());
}

TEST(PlacementQuality, TheSpanIsASentence) {
  const auto network = MakeNetwork(4, 2);
  EXPECT_EQ(SpanSentence(*network, {"n1", "n2"}), "below switch leaf1, 1 leaf switch");
  EXPECT_EQ(SpanSentence(*network, {"n1", "n4"}), "below switch spine1, 2 leaf switches");
  EXPECT_EQ(SpanSentence(*network, {"n1", "absent"}), "no switch above all nodes is known");
}

}  // namespace
}  // namespace muster::core
