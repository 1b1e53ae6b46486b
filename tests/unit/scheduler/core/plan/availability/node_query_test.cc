#include "scheduler/core/plan/availability/node_query.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "scheduler/core/plan/availability/earliest_search.h"
#include "scheduler/core/plan/availability/room_now.h"
#include "scheduler/core/plan/availability/shape_demand.h"
#include "tests/unit/scheduler/core/builders.h"

namespace muster::core {
namespace {

using testing::At;
using testing::MakeNode;
using testing::Tasks;

// Three nodes of four cores; the first has a job on three of them until 100. One request is asked.
class NodeQueryTest : public ::testing::Test {
 protected:
  NodeQueryTest() {
    snapshot_.now = At(0);
    snapshot_.nodes = {MakeNode(1, {}), MakeNode(2, {}), MakeNode(3, {})};
    snapshot_.nodes[0].taken.cpus = testing::Cpus("0-2");
    snapshot_.nodes[0].holdings.push_back(
        Holding{JobId(1), At(100), testing::Cpus("0-2"), Bytes(), {}});
  }
  // Asks for that many tasks of one core for ten seconds.
  NodeQuery Ask(std::uint32_t tasks) {
    nodes_.emplace(snapshot_);
    request_ = testing::Asks(Tasks(tasks));
    need_.request = &request_;
    need_.duration = std::chrono::seconds(10);
    demand_ = ShapeDemand();
    demand_.Extend(need_, nodes_->inventory().classes());
    return {*nodes_, need_, demand_};
  }
  Snapshot snapshot_;
  std::optional<ClusterTimelines> nodes_;
  ResourceRequest request_;
  Need need_;
  ShapeDemand demand_;
};

TEST_F(NodeQueryTest, AShapesDemandIsThatOfEveryClassOfNodes) {
  snapshot_.nodes[2] = MakeNode(3, {.cores = 16});
  const NodeQuery query = Ask(6);
  EXPECT_EQ(query.demand().scales.size(), 2U);
  EXPECT_EQ(query.demand().Least().cores, 6);
  EXPECT_EQ(query.DemandOn(2, 5).cores, 5U);
  EXPECT_EQ(query.demand().GpusFor(6), 0U);
}

TEST_F(NodeQueryTest, TheTightestNodeThatTakesAllOfItIsFoundFirst) {
  EXPECT_EQ(Ask(1).FindNow()->shares.front().node, 0U);
  EXPECT_EQ(Ask(2).FindNow()->shares.front().node, 1U);
  EXPECT_EQ(Ask(2).WithRoomNow(5), (std::vector<std::uint32_t>{1, 2}));
  EXPECT_EQ(Ask(2).CountNow(2, 5), 2U);
  EXPECT_EQ(Ask(2).CountNow(2, 1), 1U);
}

TEST_F(NodeQueryTest, OneNodeIsFoundAmongTheFirstLooksOrNotAtAll) {
  EXPECT_EQ(FindOnOneNow(Ask(1), 1)->shares.front().node, 0U);
  snapshot_.nodes[1].taken.memory = snapshot_.nodes[1].machine->memory;
  EXPECT_FALSE(FindOnOneNow(Ask(2), 1).has_value())
      << "the first node with two cores has no memory";
  EXPECT_EQ(FindOnOneNow(Ask(2), 2)->shares.front().node, 2U);
  EXPECT_EQ(Ask(2).FindNow()->shares.front().node, 2U);
  EXPECT_FALSE(FindOnOneNow(Ask(5), 9).has_value()) << "no node has so many";
}

TEST_F(NodeQueryTest, NodesThatAreBarredOrNotAllowedAreClosed) {
  const std::vector<bool> allowed = {true, true, false};
  const std::vector<bool> barred = {false, true, false};
  need_.allowed = &allowed;
  need_.barred = &barred;
  const NodeQuery query = Ask(1);
  EXPECT_TRUE(query.IsOpen(0));
  EXPECT_FALSE(query.IsOpen(1));
  EXPECT_FALSE(query.IsOpen(2));
  EXPECT_EQ(query.UntakenRoom(0), 1U);
  EXPECT_EQ(query.UntakenRoom(2), 0U);
}

TEST_F(NodeQueryTest, AnOpeningFitsWhileNothingElseIsThere) {
  const NodeQuery query = Ask(4);
  EXPECT_FALSE(query.Fits(Opening{At(95), {NodeShare{0, 4}}}));
  EXPECT_TRUE(query.Fits(Opening{At(100), {NodeShare{0, 4}}}));
  std::vector<Time> times;
  query.AppendTimes(times);
  EXPECT_NE(std::find(times.begin(), times.end(), At(100)), times.end());
}

TEST_F(NodeQueryTest, RoomNowIsWhatEachNodeTakesAndFollowsWhatChanges) {
  const NodeQuery query = Ask(2);
  RoomNow room;
  EXPECT_FALSE(room.known());
  room.Find(query);
  ASSERT_TRUE(room.known() && !room.many());
  ASSERT_EQ(room.nodes().size(), 3U);
  EXPECT_EQ(room.nodes()[0].tasks, 1U);
  EXPECT_EQ(query.FindNowAmong(room.nodes())->shares.front().node, query.FindNow()->shares[0].node);
  Snapshot later = snapshot_;
  later.nodes[0].taken.cpus = testing::Cpus("0-3");
  later.nodes[0].holdings[0].cpus = testing::Cpus("0-3");
  ASSERT_TRUE(nodes_->MoveTo(later));
  room.Renew(query);
  EXPECT_EQ(room.nodes().size(), 2U);
}

TEST_F(NodeQueryTest, TheEarliestStartIsWhenEnoughNodesAreFree) {
  EarliestSearch search;
  const NodeQuery small = Ask(8);
  ASSERT_TRUE(search.EverFits(small));
  EXPECT_EQ(search.Find(small, At(0), kFarFuture).start, At(0));
  EarliestSearch all;
  const NodeQuery large = Ask(12);
  ASSERT_TRUE(all.EverFits(large));
  const Opening opening = all.Find(large, At(0), kFarFuture);
  EXPECT_EQ(opening.start, At(100));
  EXPECT_EQ(opening.shares.size(), 3U);
  EXPECT_FALSE(EarliestSearch().EverFits(Ask(13)));
}

TEST_F(NodeQueryTest, WhatASearchRemembersIsBroughtToTheNextCycle) {
  EarliestSearch search;
  const NodeQuery query = Ask(12);
  ASSERT_TRUE(search.EverFits(query));
  EXPECT_EQ(search.Find(query, At(0), kFarFuture).start, At(100));
  Snapshot later = snapshot_;
  later.now = At(20);
  later.nodes[0].taken = NodeUse();
  later.nodes[0].holdings.clear();
  ASSERT_TRUE(nodes_->MoveTo(later));
  search.Renew(query);
  ASSERT_TRUE(search.EverFits(query));
  EXPECT_EQ(search.Find(query, At(20), kFarFuture).start, At(20));
}

}  // namespace
}  // namespace muster::core
