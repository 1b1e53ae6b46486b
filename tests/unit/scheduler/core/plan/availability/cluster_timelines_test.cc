#include "scheduler/core/plan/availability/cluster_timelines.h"

#include <gtest/gtest.h>

#include "tests/unit/scheduler/core/builders.h"

namespace muster::core {
namespace {

using testing::At;
using testing::MakeNode;

// Two nodes of four cores; the first has a job on two of them until 100.
Snapshot TwoNodes(Time now) {
  Snapshot snapshot;
  snapshot.now = now;
  snapshot.nodes = {MakeNode(1, {}), MakeNode(2, {})};
  snapshot.nodes[0].taken.cpus = testing::Cpus("0-1");
  snapshot.nodes[0].holdings.push_back(
      Holding{JobId(1), At(100), testing::Cpus("0-1"), Bytes(), {}});
  return snapshot;
}

NodeDemand Cores(std::uint32_t cores) {
  NodeDemand demand;
  demand.cores = cores;
  return demand;
}

TEST(ClusterTimelines, AreReadFromTheSnapshot) {
  const Snapshot snapshot = TwoNodes(At(0));
  const ClusterTimelines nodes(snapshot);
  EXPECT_EQ(nodes.FreeNow(0).cores, 2U);
  EXPECT_EQ(nodes.FreeNow(1).cores, 4U);
  EXPECT_EQ(nodes.timeline(0).EarliestFit(Cores(4), At(0), Duration(0)), At(100));
  EXPECT_EQ(nodes.InAll().EarliestFit({8, 0}, At(0), Duration(0)), At(100));
}

TEST(ClusterTimelines, WhatIsTakenIsGoneForItsTimeAndKnownAsItWas) {
  const Snapshot snapshot = TwoNodes(At(0));
  ClusterTimelines nodes(snapshot);
  nodes.Take(Opening{At(0), {NodeShare{1, 3}}}, {Cores(3)}, At(50));
  EXPECT_EQ(nodes.FreeNow(1).cores, 1U);
  EXPECT_EQ(nodes.LeastFree(1, At(60)).cores, 1U);
  EXPECT_EQ(nodes.timeline(1).EarliestFit(Cores(4), At(0), Duration(0)), At(50));
  EXPECT_EQ(nodes.Untaken(1).now().cores, 4U);
  EXPECT_EQ(nodes.InAll().EarliestFit({4, 0}, At(0), Duration(0)), At(50));
}

TEST(ClusterTimelines, ASumThatWasAskedForIsKeptUpWithWhatIsTaken) {
  const Snapshot snapshot = TwoNodes(At(0));
  ClusterTimelines nodes(snapshot);
  EXPECT_EQ(nodes.InAll().EarliestFit({6, 0}, At(0), Duration(0)), At(0));
  nodes.Take(Opening{At(0), {NodeShare{0, 2}, NodeShare{1, 3}}}, {Cores(2), Cores(3)}, At(50));
  EXPECT_EQ(nodes.InAll().EarliestFit({2, 0}, At(0), Duration(0)), At(50));
}

TEST(ClusterTimelines, ATrialIsUndone) {
  const Snapshot snapshot = TwoNodes(At(0));
  ClusterTimelines nodes(snapshot);
  const NodeTimeline before = nodes.timeline(1);
  nodes.TakeOn(1, Cores(4), At(0), At(50));
  EXPECT_EQ(nodes.FreeNow(1).cores, 0U);
  nodes.Restore(1, before);
  EXPECT_EQ(nodes.FreeNow(1).cores, 4U);
}

TEST(ClusterTimelines, InPlaceOfAJobOnlyTheRestComesFreeLater) {
  const Snapshot snapshot = TwoNodes(At(0));
  ClusterTimelines nodes(snapshot);
  const Holding* victim = &snapshot.nodes[0].holdings[0];
  EXPECT_EQ(nodes.Without(0, {victim}).now().cores, 4U);
  nodes.TakeInPlaceOf({victim}, 0, Cores(3), At(0), At(50));
  EXPECT_EQ(nodes.FreeNow(0).cores, 1U);
  EXPECT_EQ(nodes.timeline(0).EarliestFit(Cores(4), At(0), Duration(0)), At(100));
}

TEST(ClusterTimelines, ALaterSnapshotOfTheSameNodesIsMovedTo) {
  const Snapshot first = TwoNodes(At(0));
  ClusterTimelines nodes(first);
  nodes.TakeOn(1, Cores(4), At(0), At(50));
  Snapshot later = first;
  later.now = At(10);
  later.nodes[0].taken = NodeUse();
  later.nodes[0].holdings.clear();
  ASSERT_TRUE(nodes.MoveTo(later));
  EXPECT_EQ(nodes.FreeNow(0).cores, 4U);
  EXPECT_EQ(nodes.FreeNow(1).cores, 4U);
  EXPECT_EQ(nodes.inventory().now(), At(10));
  std::vector<std::uint32_t> changed;
  nodes.changes().AppendSince(0, changed);
  EXPECT_EQ(changed, (std::vector<std::uint32_t>{0}));
}

TEST(ClusterTimelines, OtherNodesOrAnEarlierTimeAreNotMovedTo) {
  const Snapshot first = TwoNodes(At(10));
  Snapshot drained = first;
  drained.nodes[1].drained = true;
  EXPECT_FALSE(ClusterTimelines(first).MoveTo(drained));
  Snapshot narrow = first;
  narrow.nodes[1].narrow = true;
  EXPECT_FALSE(ClusterTimelines(first).MoveTo(narrow));
  Snapshot earlier = first;
  earlier.now = At(9);
  EXPECT_FALSE(ClusterTimelines(first).MoveTo(earlier));
}

}  // namespace
}  // namespace muster::core
