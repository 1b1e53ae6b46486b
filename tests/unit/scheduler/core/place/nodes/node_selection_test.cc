#include "scheduler/core/place/nodes/node_selection.h"

#include <gtest/gtest.h>

#include "tests/unit/scheduler/core/builders.h"

namespace muster::core {
namespace {

using testing::Asks;
using testing::Cpus;
using testing::MakeNode;
using testing::Tasks;

// Nodes n1, n2, … with that many free cores of 8.
std::vector<NodeSnapshot> Free(const std::vector<std::uint32_t>& cores) {
  std::vector<NodeSnapshot> nodes;
  for (std::uint32_t free : cores) {
    NodeSnapshot node = MakeNode(static_cast<std::uint32_t>(nodes.size()) + 1, {.cores = 8});
    for (std::uint32_t cpu = 0; cpu < 8 - free; ++cpu) {
      node.taken.cpus.Insert(cpu);
    }
    nodes.push_back(std::move(node));
  }
  return nodes;
}

std::string Dealt(const std::vector<NodeSnapshot>& nodes, const ResourceRequest& request,
                  ClusterView view = ClusterView::kAsIs) {
  const std::optional<Allocation> place = PlaceJob(nodes, Asks(request), view);
  if (!place.has_value()) {
    return "nowhere";
  }
  std::string text;
  std::uint32_t next = 0;
  for (const NodeAllocation& part : place->nodes) {
    absl::StrAppend(&text, text.empty() ? "" : " ", part.name, ":", part.ranks.size());
    for (const RankPlacement& rank : part.ranks) {
      EXPECT_EQ(rank.rank, next++);
    }
  }
  return text;
}

TEST(Span, TakesTheFewestNodesThatHoldTheJob) {
  EXPECT_EQ(Dealt(Free({2, 2, 4}), Tasks(4)), "n3:4");
  EXPECT_EQ(Dealt(Free({2, 2, 3}), Tasks(5)), "n1:2 n3:3");
}

TEST(Span, TakesTheTightestNodeThatHoldsIt) {
  EXPECT_EQ(Dealt(Free({8, 3, 4}), Tasks(3)), "n2:3");
  EXPECT_EQ(Dealt(Free({8, 2, 3, 1}), Tasks(9)), "n1:8 n4:1");
}

TEST(Span, TiesFallToTheLowerNode) {
  EXPECT_EQ(Dealt(Free({4, 4, 4}), Tasks(2)), "n1:2");
  std::vector<NodeSnapshot> nodes = Free({4, 4});
  nodes[0].taken.memory = kGibibyte * 4;  // room for fewer tasks, as many cores
  EXPECT_EQ(Dealt(nodes, Tasks(1)), "n1:1");
}

TEST(Span, DealsTheTasksEvenly) {
  ResourceRequest request = Tasks(5);
  request.min_nodes = 2;
  EXPECT_EQ(Dealt(Free({8, 8, 8}), request), "n1:3 n2:2");
  request = Tasks(9);
  request.min_nodes = 3;
  EXPECT_EQ(Dealt(Free({8, 1, 8}), request), "n1:4 n2:1 n3:4");
}

TEST(Span, UsesAtLeastAndAtMostTheNodesThatWereAsked) {
  ResourceRequest request = Tasks(4);
  request.min_nodes = 3;
  EXPECT_EQ(Dealt(Free({8, 8, 8}), request), "n1:2 n2:1 n3:1");
  EXPECT_EQ(Dealt(Free({8, 8}), request), "nowhere");
  request = Tasks(6);
  request.max_nodes = 2;
  request.min_nodes = 1;
  EXPECT_EQ(Dealt(Free({2, 2, 2}), request), "nowhere");
  EXPECT_EQ(Dealt(Free({2, 4, 2}), request), "n1:2 n2:4");
}

TEST(Span, NeverPutsMoreTasksOnANodeThanWereAsked) {
  ResourceRequest request = Tasks(4);
  request.tasks_per_node = 2;
  EXPECT_EQ(Dealt(Free({8, 8}), request), "n1:2 n2:2");
  EXPECT_EQ(Dealt(Free({8}), request), "nowhere");
}

TEST(Span, LeavesOutNodesThatAreDownOrDrainedUnlessAllAreAsked) {
  std::vector<NodeSnapshot> nodes = Free({0, 8, 8});
  nodes[1].up = false;
  nodes[2].drained = true;
  EXPECT_EQ(Dealt(nodes, Tasks(1)), "nowhere");
  EXPECT_EQ(Dealt(nodes, Tasks(1), ClusterView::kEmptyUsable), "n1:1");
  EXPECT_EQ(Dealt(nodes, Tasks(24), ClusterView::kEmptyAll), "n1:8 n2:8 n3:8");
  EXPECT_EQ(Dealt(nodes, Tasks(25), ClusterView::kEmptyAll), "nowhere");
}

TEST(Span, NoNodesHoldNothing) {
  EXPECT_EQ(Dealt({}, Tasks(1), ClusterView::kEmptyAll), "nowhere");
}

}  // namespace
}  // namespace muster::core
