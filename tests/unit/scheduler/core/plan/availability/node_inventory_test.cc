#include "scheduler/core/plan/availability/node_inventory.h"

#include <gtest/gtest.h>

#include "tests/unit/scheduler/core/builders.h"

namespace muster::core {
namespace {

using testing::MakeNode;

TEST(NodeInventory, NodesOfEqualCapacityAreOfOneClass) {
  Snapshot snapshot;
  snapshot.nodes = {MakeNode(1, {}), MakeNode(2, {.cores = 8}), MakeNode(3, {})};
  const NodeInventory inventory(snapshot);
  EXPECT_EQ(inventory.size(), 3U);
  EXPECT_EQ(inventory.classes().size(), 2U);
  EXPECT_EQ(inventory.class_of(0), inventory.class_of(2));
  EXPECT_NE(inventory.class_of(0), inventory.class_of(1));
  EXPECT_EQ(inventory.capacity(1).all.cores, 8U);
}

TEST(NodeInventory, NodesThatAreDownOrDrainedAreNotUsable) {
  Snapshot snapshot;
  snapshot.nodes = {MakeNode(1, {}), MakeNode(2, {}), MakeNode(3, {})};
  snapshot.nodes[1].up = false;
  snapshot.nodes[2].drained = true;
  const NodeInventory inventory(snapshot);
  EXPECT_TRUE(inventory.usable(0));
  EXPECT_FALSE(inventory.usable(1));
  EXPECT_FALSE(inventory.usable(2));
}

TEST(NodeInventory, LeavesDifferOnlyWhereTheNetworkIsKnown) {
  Snapshot snapshot;
  snapshot.nodes = {MakeNode(1, {}), MakeNode(2, {}), MakeNode(3, {})};
  const NodeInventory unknown(snapshot);
  EXPECT_EQ(unknown.tree(), nullptr);
  EXPECT_EQ(unknown.LeafOf(0), unknown.LeafOf(2));
  snapshot.network = testing::MakeNetwork(3, 2);
  const NodeInventory known(snapshot);
  ASSERT_NE(known.tree(), nullptr);
  EXPECT_EQ(known.LeafOf(0), known.LeafOf(1));
  EXPECT_NE(known.LeafOf(0), known.LeafOf(2));
}

}  // namespace
}  // namespace muster::core
