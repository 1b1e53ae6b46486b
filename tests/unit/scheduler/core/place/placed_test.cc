#include "scheduler/core/place/placed.h"

#include <gtest/gtest.h>

#include <vector>

namespace muster::core {
namespace {

Placed TasksOn(std::uint32_t node, std::uint32_t tasks) {
  Placed placed;
  placed.tasks = tasks;
  placed.allocation.node = NodeId(node);
  for (std::uint32_t rank = 0; rank < tasks; ++rank) {
    placed.allocation.ranks.emplace_back().rank = rank;
  }
  return placed;
}

TEST(AddPlaced, RanksAreNumberedOverAllNodesInTheirOrder) {
  Allocation allocation;
  ASSERT_TRUE(AddPlaced(TasksOn(7, 2), 2, allocation));
  ASSERT_TRUE(AddPlaced(TasksOn(4, 3), 3, allocation));
  std::vector<std::uint32_t> ranks;
  for (const NodeAllocation& part : allocation.nodes) {
    for (const RankPlacement& rank : part.ranks) {
      ranks.push_back(rank.rank);
    }
  }
  EXPECT_EQ(ranks, (std::vector<std::uint32_t>{0, 1, 2, 3, 4}));
  EXPECT_EQ(allocation.nodes.front().node, NodeId(7));
}

TEST(AddPlaced, FewerTasksThanAreWantedAddNothing) {
  Allocation allocation;
  EXPECT_FALSE(AddPlaced(TasksOn(7, 2), 3, allocation));
  EXPECT_TRUE(allocation.nodes.empty());
}

}  // namespace
}  // namespace muster::core
