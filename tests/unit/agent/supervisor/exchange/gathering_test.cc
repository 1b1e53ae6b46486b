#include "agent/supervisor/exchange/gathering.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <deque>
#include <iterator>
#include <memory>
#include <numeric>
#include <random>
#include <set>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "agent/supervisor/exchange/exchange_tree.h"

namespace muster::agent {
namespace {

// Supervisors whose frames wait in one bag each way, taken out in any order between two nodes.
class Nodes {
 public:
  explicit Nodes(std::uint32_t count) : ended_(count) {
    for (std::uint32_t self = 0; self < count; ++self) {
      nodes_.push_back(
          std::make_unique<Gathering>(self, [this, self](std::uint32_t to, wire::PeerFrame frame) {
            ways_[{self, to}].push_back(std::move(frame));
          }));
    }
  }

  absl::Status Enter(std::uint32_t node, const std::string& members,
                     std::vector<std::uint32_t> positions, const std::string& data) {
    return nodes_[node]->Enter(
        members, std::move(positions), data,
        [this, node](const std::string& all) { ended_[node].push_back(all); });
  }

  // Delivers one frame of a way that `random` chooses; false when none is left.
  bool Deliver(std::mt19937& random) {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> full;
    for (const auto& [way, frames] : ways_) {
      if (!frames.empty()) {
        full.push_back(way);
      }
    }
    if (full.empty()) {
      return false;
    }
    const auto way = full[random() % full.size()];
    const wire::PeerFrame frame = ways_[way].front();
    ways_[way].pop_front();
    const absl::Status taken = frame.has_gather()
                                   ? nodes_[way.second]->Take(way.first, frame.gather())
                                   : nodes_[way.second]->Take(way.first, frame.result());
    EXPECT_TRUE(taken.ok()) << taken;
    return true;
  }

  Gathering& operator[](std::uint32_t node) { return *nodes_[node]; }
  const std::vector<std::string>& ended(std::uint32_t node) const { return ended_[node]; }

 private:
  std::vector<std::unique_ptr<Gathering>> nodes_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::deque<wire::PeerFrame>> ways_;
  std::vector<std::vector<std::string>> ended_;
};

std::vector<std::uint32_t> Everybody(std::uint32_t count) {
  std::vector<std::uint32_t> all(count);
  std::iota(all.begin(), all.end(), 0U);
  return all;
}

std::multiset<std::string> Words(const std::string& text) {
  std::istringstream stream(text);
  return {std::istream_iterator<std::string>(stream), std::istream_iterator<std::string>()};
}

RC_GTEST_PROP(GatheringTest, WhatEachBringsReachesAllInEveryOrder, ()) {
  const auto count = *rc::gen::inRange<std::uint32_t>(1, 41);
  const auto rounds = *rc::gen::inRange<std::uint32_t>(1, 4);
  std::mt19937 random(*rc::gen::arbitrary<std::uint32_t>());
  Nodes nodes(count);
  std::vector<std::uint32_t> entered(count, 0);
  const auto may_enter = [&](std::uint32_t node) {
    return entered[node] < rounds && nodes.ended(node).size() == entered[node];
  };
  for (bool moved = true; moved;) {
    moved = random() % 2 == 0 && nodes.Deliver(random);
    std::vector<std::uint32_t> ready;
    for (std::uint32_t node = 0; node < count; ++node) {
      if (may_enter(node)) {
        ready.push_back(node);
      }
    }
    if (!ready.empty()) {
      const std::uint32_t node = ready[random() % ready.size()];
      RC_ASSERT(nodes
                    .Enter(node, "all", Everybody(count),
                           absl::StrCat("n", node, "r", entered[node]++, " "))
                    .ok());
      moved = true;
    }
    moved = nodes.Deliver(random) || moved;
  }
  for (std::uint32_t round = 0; round < rounds; ++round) {
    std::multiset<std::string> expected;
    for (std::uint32_t node = 0; node < count; ++node) {
      expected.insert(absl::StrCat("n", node, "r", round));
    }
    for (std::uint32_t node = 0; node < count; ++node) {
      RC_ASSERT(nodes.ended(node).size() == rounds);
      RC_ASSERT(nodes.ended(node)[round] == nodes.ended(0)[round]);
      RC_ASSERT(Words(nodes.ended(node)[round]) == expected);
    }
  }
}

RC_GTEST_PROP(GatheringTest, AGroupOfSomeLeavesTheOthersAlone, ()) {
  const auto count = *rc::gen::inRange<std::uint32_t>(2, 41);
  std::mt19937 random(*rc::gen::arbitrary<std::uint32_t>());
  std::vector<std::uint32_t> group = Everybody(count);
  std::shuffle(group.begin(), group.end(), random);
  group.resize(1 + random() % count);
  std::sort(group.begin(), group.end());
  Nodes nodes(count);
  for (const std::uint32_t node : group) {
    RC_ASSERT(nodes.Enter(node, "some", group, absl::StrCat(node, " ")).ok());
  }
  while (nodes.Deliver(random)) {
  }
  for (std::uint32_t node = 0; node < count; ++node) {
    const bool member = std::binary_search(group.begin(), group.end(), node);
    RC_ASSERT(nodes.ended(node).size() == (member ? 1U : 0U));
    if (member) {
      RC_ASSERT(Words(nodes.ended(node)[0]).size() == group.size());
    }
  }
}

RC_GTEST_PROP(ExchangeTreeTest, EveryFrameArrivesByItsNeighbours, ()) {
  const auto count = *rc::gen::inRange<std::uint32_t>(1, 41);
  const auto from = *rc::gen::inRange<std::uint32_t>(0, count);
  const auto to = *rc::gen::inRange<std::uint32_t>(0, count);
  std::uint32_t at = from;
  for (int hops = 0; at != to; ++hops) {
    RC_ASSERT(hops < 6);
    const ExchangeTree tree(at, count);
    const std::uint32_t next = tree.NextHop(to);
    RC_ASSERT(next < count);
    const bool neighbour = tree.IsChild(next) || (!tree.IsRoot() && next == tree.Parent());
    RC_ASSERT(neighbour);
    at = next;
  }
}

TEST(ExchangeTreeTest, EveryNodeButTheFirstIsOneNodesChild) {
  for (std::uint32_t count = 1; count <= 40; ++count) {
    std::multiset<std::uint32_t> children;
    for (std::uint32_t self = 0; self < count; ++self) {
      for (const std::uint32_t child : ExchangeTree(self, count).Children()) {
        EXPECT_EQ(ExchangeTree(child, count).Parent(), self);
        children.insert(child);
      }
    }
    std::multiset<std::uint32_t> expected;
    for (std::uint32_t node = 1; node < count; ++node) {
      expected.insert(node);
    }
    EXPECT_EQ(children, expected);
  }
}

TEST(GatheringTest, WhoIsGoneBeforeItEnteredIsWaitedForInVain) {
  Nodes nodes(3);
  std::mt19937 random(1);
  const auto gone = [](std::uint32_t node) { return node == 1; };
  EXPECT_FALSE(nodes[0].WaitsFor(gone)) << "nobody waits yet";
  ASSERT_TRUE(nodes.Enter(0, "all", {0, 1, 2}, "a").ok());
  EXPECT_TRUE(nodes[0].WaitsFor(gone));
  ASSERT_TRUE(nodes.Enter(1, "all", {0, 1, 2}, "b").ok());
  nodes.Deliver(random);
  EXPECT_FALSE(nodes[0].WaitsFor(gone)) << "it has brought what it had";
  ASSERT_TRUE(nodes.Enter(2, "all", {0, 1, 2}, "c").ok());
  while (nodes.Deliver(random)) {
  }
  EXPECT_EQ(nodes.ended(0).at(0), "abc");
}

TEST(GatheringTest, AWordThatFitsNowhereIsRefused) {
  const auto refused = [](Gathering& node, std::uint32_t from, std::uint64_t sequence) {
    wire::PeerGather gather;
    gather.set_members("all");
    gather.set_sequence(sequence);
    gather.set_data("x");
    return !node.Take(from, gather).ok();
  };
  Nodes nodes(3);
  EXPECT_FALSE(refused(nodes[0], 1, 0)) << "a child may be ahead of us";
  EXPECT_TRUE(refused(nodes[0], 1, 0)) << "twice";
  wire::PeerResult result;
  result.set_members("all");
  EXPECT_FALSE(nodes[1].Take(0, result).ok()) << "we have not entered it";
  ASSERT_TRUE(nodes.Enter(2, "all", {0, 1, 2}, "c").ok());
  result.set_sequence(0);
  EXPECT_FALSE(nodes[2].Take(1, result).ok()) << "not our parent";
  EXPECT_TRUE(refused(nodes[2], 1, 0)) << "we have no children";
}

TEST(GatheringTest, TooMuchIsRefusedBeforeItIsKept) {
  Nodes nodes(2);
  wire::PeerGather gather;
  gather.set_members("all");
  gather.set_data(std::string(Gathering::kBytesMax, 'x'));
  EXPECT_TRUE(nodes[0].Take(1, gather).ok());
  gather.set_members("more");
  gather.set_data("x");
  EXPECT_EQ(nodes[0].Take(1, gather).code(), absl::StatusCode::kResourceExhausted);
}

}  // namespace
}  // namespace muster::agent
