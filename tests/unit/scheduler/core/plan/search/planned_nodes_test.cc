#include "scheduler/core/plan/search/planned_nodes.h"

#include <gtest/gtest.h>

#include "tests/unit/scheduler/core/builders.h"

namespace muster::core {
namespace {

Snapshot TwoNodes() {
  Snapshot snapshot;
  snapshot.nodes = {testing::MakeNode(4, {}), testing::MakeNode(7, {})};
  return snapshot;
}

TEST(PlannedNodes, AChangedNodeIsSeenFromThenOnAndTheSnapshotStays) {
  const Snapshot snapshot = TwoNodes();
  PlannedNodes nodes(snapshot);
  EXPECT_EQ(&nodes.At(1), &snapshot.nodes[1]);
  NodeSnapshot& changed = nodes.Change(1);
  changed.taken.cpus = testing::Cpus("0-1");
  EXPECT_EQ(nodes.At(1).taken.cpus.Count(), 2U);
  EXPECT_EQ(&nodes.Change(1), &changed);
  EXPECT_TRUE(snapshot.nodes[1].taken.cpus.Empty());
  EXPECT_EQ(&nodes.At(0), &snapshot.nodes[0]);
}

TEST(PositionOf, IsTheNodesPlaceInTheSnapshot) {
  const Snapshot snapshot = TwoNodes();
  EXPECT_EQ(PositionOf(snapshot, NodeId(4)), 0U);
  EXPECT_EQ(PositionOf(snapshot, NodeId(7)), 1U);
  for (const std::uint32_t other : {1U, 5U, 9U}) {
    EXPECT_FALSE(PositionOf(snapshot, NodeId(other)).has_value());
  }
}

}  // namespace
}  // namespace muster::core
