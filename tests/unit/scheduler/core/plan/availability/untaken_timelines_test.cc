#include "scheduler/core/plan/availability/untaken_timelines.h"

#include <gtest/gtest.h>

#include "tests/unit/scheduler/core/builders.h"

namespace muster::core {
namespace {

NodeTimeline Free(std::uint32_t cores) {
  FreeAmounts amounts;
  amounts.cores = cores;
  return NodeTimeline(amounts, testing::At(0));
}

TEST(UntakenTimelines, TheFirstTimelineOfANodeStaysUntilAllAreTakenBack) {
  UntakenTimelines untaken(3);
  EXPECT_EQ(untaken.Find(1), nullptr);
  untaken.Keep(1, Free(8));
  untaken.Keep(1, Free(5));
  untaken.Keep(0, Free(2));
  ASSERT_NE(untaken.Find(1), nullptr);
  EXPECT_EQ(untaken.Find(1)->now().cores, 8U);
  EXPECT_EQ(untaken.entries().size(), 2U);
  std::vector<std::uint32_t> nodes;
  untaken.TakeAll([&nodes](std::uint32_t node, const NodeTimeline&) { nodes.push_back(node); });
  EXPECT_EQ(nodes, (std::vector<std::uint32_t>{1, 0}));
  EXPECT_FALSE(untaken.Has(1));
  EXPECT_TRUE(untaken.entries().empty());
}

}  // namespace
}  // namespace muster::core
