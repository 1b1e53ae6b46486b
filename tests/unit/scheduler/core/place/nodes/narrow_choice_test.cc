// Nodes off narrow links: in examples, and against a search through every set of nodes.
#include "scheduler/core/place/nodes/narrow_choice.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "scheduler/core/place/nodes/node_choice.h"
#include "tests/unit/scheduler/core/builders.h"

namespace muster::core {
namespace {

using testing::MakeNetwork;
using testing::MakeNode;

// Nodes n1, n2, … with that room, `width` below each leaf switch.
class Joined {
 public:
  Joined(std::vector<std::uint32_t> rooms, std::uint32_t width, std::vector<NarrowLink> links)
      : rooms_(std::move(rooms)),
        nodes_(NodesOf(rooms_.size())),
        tree_(*MakeNetwork(static_cast<std::uint32_t>(rooms_.size()), width), nodes_, links) {}

  [[nodiscard]] std::vector<CandidateNode> Candidates() const {
    std::vector<CandidateNode> candidates;
    for (std::uint32_t i = 0; i < rooms_.size(); ++i) {
      if (rooms_[i] > 0) {
        candidates.push_back({&nodes_[i], i, rooms_[i], rooms_[i], nodes_[i].weight});
      }
    }
    return candidates;
  }
  [[nodiscard]] std::vector<std::uint32_t> Chosen(const ResourceRequest& request) const {
    std::vector<std::uint32_t> nodes;
    for (const NodeShare& share : ChooseBesideLinks(Candidates(), request, &tree_)) {
      nodes.push_back(share.node + 1);
    }
    return nodes;
  }
  // Whether some set of the nodes holds as many tasks on that many nodes beside the links.
  [[nodiscard]] bool Holds(std::uint32_t nodes, std::uint32_t tasks) const {
    for (std::uint32_t set = 1; set < 1U << rooms_.size(); ++set) {
      std::vector<NodeShare> shares;
      std::uint32_t room = 0;
      for (std::uint32_t i = 0; i < rooms_.size(); ++i) {
        if ((set >> i & 1U) != 0 && rooms_[i] > 0) {
          shares.push_back({i, 1});
          room += rooms_[i];
        }
      }
      if (shares.size() == nodes && room >= tasks && tasks >= nodes &&
          !SpannedLink(shares, tree_).has_value()) {
        return true;
      }
    }
    return false;
  }
  [[nodiscard]] const NodeTree& tree() const { return tree_; }
  void Weigh(std::uint32_t node, std::uint32_t weight) { nodes_[node - 1].weight = weight; }

 private:
  static std::vector<NodeSnapshot> NodesOf(std::size_t count) {
    std::vector<NodeSnapshot> nodes;
    for (std::uint32_t i = 1; i <= count; ++i) {
      nodes.push_back(MakeNode(i, {}));
    }
    return nodes;
  }
  std::vector<std::uint32_t> rooms_;
  std::vector<NodeSnapshot> nodes_;
  NodeTree tree_;
};

NarrowLink Between(const std::string& a, const std::string& b) {
  return {std::min(a, b), std::max(a, b), "cable", "ada", Time(Duration(0))};
}

ResourceRequest On(std::uint32_t nodes, std::uint32_t tasks) {
  ResourceRequest request = testing::Tasks(tasks);
  request.min_nodes = request.max_nodes = nodes;
  return request;
}

using Numbers = std::vector<std::uint32_t>;

TEST(NarrowChoice, BothSidesAreTriedAndTheBetterIsTaken) {
  // Three nodes fit below leaf1 and leaf2, or below leaf2 and leaf3 alone; not below 1 and 3.
  const Joined joined({1, 0, 1, 1, 1, 0}, 2, {Between("leaf1", "leaf2")});
  EXPECT_EQ(joined.Chosen(On(3, 3)), (Numbers{3, 4, 5}));
  EXPECT_EQ(joined.Chosen(On(2, 2)), (Numbers{3, 4}));
  EXPECT_EQ(joined.Chosen(On(4, 4)), Numbers());
}

TEST(NarrowChoice, AChoiceThatSpansNoneIsTheOneThatWouldBeMadeAnyhow) {
  const Joined joined({1, 1, 1, 1}, 2, {Between("leaf1", "leaf2")});
  EXPECT_EQ(joined.Chosen(On(2, 2)), (Numbers{1, 2}));
  EXPECT_EQ(joined.Chosen(On(3, 3)), Numbers());
}

TEST(NarrowChoice, LighterNodesComeBeforeASmallerSpan) {
  Joined joined({1, 1, 1, 1, 1, 1}, 2, {Between("leaf1", "leaf2")});
  joined.Weigh(3, 9);
  joined.Weigh(4, 9);
  EXPECT_EQ(joined.Chosen(On(3, 3)), (Numbers{1, 5, 6}));
}

TEST(NarrowChoice, ALinkOfSwitchesHigherUpPartsAllThatIsBelow) {
  const Joined joined({1, 1, 1, 1}, 1, {Between("spine1", "spine2")});
  EXPECT_EQ(joined.tree().SidesOf(0), (Numbers{0}));
  EXPECT_EQ(joined.tree().SidesOf(3), (Numbers{1}));
  EXPECT_EQ(joined.Chosen(On(2, 2)), (Numbers{1, 2}));
  EXPECT_EQ(joined.Chosen(On(3, 3)), Numbers());
}

TEST(NarrowChoice, SwitchesThatTheNetworkHasNotAndThoseAboveOneAnotherPartNothing) {
  const Joined joined({1, 1, 1, 1}, 2, {Between("leaf1", "gone"), Between("leaf1", "root")});
  EXPECT_TRUE(joined.tree().links().empty());
  EXPECT_EQ(joined.Chosen(On(4, 4)), (Numbers{1, 2, 3, 4}));
}

TEST(NarrowChoice, ManyNarrowLinksEndInAChoiceSoonToo) {
  // Every two of 24 leaves are joined by a narrow link but the last two of them.
  std::vector<NarrowLink> links;
  for (int a = 1; a <= 24; ++a) {
    for (int b = a + 1; b <= 24 && a < 23; ++b) {
      links.push_back(Between(absl::StrCat("leaf", a), absl::StrCat("leaf", b)));
    }
  }
  const Joined joined(std::vector<std::uint32_t>(24, 1), 1, links);
  EXPECT_EQ(joined.Chosen(On(2, 2)), (Numbers{23, 24}));
}

TEST(NarrowChoice, WhatLiesAcrossIsMarked) {
  const Joined joined({1, 1, 1, 1, 1, 1}, 2, {Between("leaf1", "leaf3")});
  std::vector<bool> marked(6, false);
  MarkAcross(0, joined.tree(), marked);
  EXPECT_EQ(marked, (std::vector<bool>{false, false, false, false, true, true}));
  MarkAcross(2, joined.tree(), marked);
  MarkSide(0, joined.tree(), marked);
  EXPECT_EQ(marked, (std::vector<bool>{true, true, false, false, true, true}));
  EXPECT_EQ(NamesOf(joined.tree().links()[0]), "leaf1 and leaf3");
}

RC_GTEST_PROP(NarrowChoice, FindsNodesExactlyWhereSomeSetHoldsTheJobBesideTheLinks, ()) {
  const auto width = *rc::gen::inRange(1U, 3U);
  const auto rooms = *rc::gen::container<std::vector<std::uint32_t>>(8, rc::gen::inRange(0U, 3U));
  const std::uint32_t leaves = 8 / width;
  std::vector<NarrowLink> links;
  for (int i = *rc::gen::inRange(0, 6); i > 0; --i) {
    links.push_back(Between(absl::StrCat("leaf", *rc::gen::inRange(1U, leaves + 1)),
                            absl::StrCat("leaf", *rc::gen::inRange(1U, leaves + 1))));
  }
  const Joined joined(rooms, width, links);
  const auto nodes = *rc::gen::inRange(2U, 6U);
  const ResourceRequest request = On(nodes, nodes + *rc::gen::inRange(0U, 4U));
  const std::vector<NodeShare> shares =
      ChooseBesideLinks(joined.Candidates(), request, &joined.tree());
  RC_ASSERT(shares.empty() || !SpannedLink(shares, joined.tree()).has_value());
  RC_ASSERT(!shares.empty() == joined.Holds(nodes, request.tasks));
}

}  // namespace
}  // namespace muster::core
