// The nodes of the smallest span: in snapshots, and against a search through every set of nodes.
#include "scheduler/core/place/nodes/tree_choice.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <random>
#include <set>

#include "scheduler/core/place/nodes/node_choice.h"
#include "tests/unit/scheduler/core/builders.h"

namespace muster::core {
namespace {

using testing::Asks;
using testing::MakeNetwork;
using testing::MakeNode;
using testing::Tasks;

// Nodes n1, n2, … with that many free cores of 8.
std::vector<NodeSnapshot> Free(const std::vector<std::uint32_t>& cores) {
  std::vector<NodeSnapshot> nodes;
  for (const std::uint32_t free : cores) {
    NodeSnapshot node = MakeNode(static_cast<std::uint32_t>(nodes.size()) + 1, {.cores = 8});
    for (std::uint32_t cpu = 0; cpu < 8 - free; ++cpu) {
      node.taken.cpus.Insert(cpu);
    }
    nodes.push_back(std::move(node));
  }
  return nodes;
}

ResourceRequest Nodes(std::uint32_t nodes, std::uint32_t tasks) {
  ResourceRequest request = Tasks(tasks);
  request.min_nodes = request.max_nodes = nodes;
  return request;
}

// Where the planner starts a job that waits alone: "n1:2 n3:3".
std::string Dealt(std::vector<NodeSnapshot> nodes, const ResourceRequest& request,
                  std::shared_ptr<const Network> network) {
  Snapshot snapshot;
  snapshot.nodes = std::move(nodes);
  snapshot.network = std::move(network);
  WaitingJob job;
  job.id = job.submission = JobId(1);
  job.spec = std::make_shared<const JobSpec>(testing::Normal(request));
  snapshot.waiting.push_back(job);
  const Plan plan = MakePlan(snapshot, SchedulerConfig());
  if (plan.starts.empty()) {
    return "nowhere";
  }
  std::string text;
  for (const NodeAllocation& part : plan.starts[0].allocation.nodes) {
    absl::StrAppend(&text, text.empty() ? "" : " ", part.name, ":", part.ranks.size());
  }
  return text;
}

TEST(TreeChoice, TakesOneNodeWhereOneHoldsTheJob) {
  EXPECT_EQ(Dealt(Free({2, 2, 8, 8}), Tasks(4), MakeNetwork(4, 2)), "n3:4");
}

TEST(TreeChoice, StaysBelowOneLeafSwitchWhereItCan) {
  // Without the network it would be n1 and n3.
  EXPECT_EQ(Dealt(Free({1, 0, 1, 1}), Nodes(2, 2), MakeNetwork(4, 2)), "n3:1 n4:1");
}

TEST(TreeChoice, LeavesTheRoomierLeafWhole) {
  EXPECT_EQ(Dealt(Free({8, 8, 8, 8, 0, 8}), Nodes(2, 2), MakeNetwork(6, 3)), "n4:1 n6:1");
}

TEST(TreeChoice, NeedsNoMoreNodesThanOnAnotherLeaf) {
  // The first leaf has less room, and the job would lie on three nodes there.
  EXPECT_EQ(Dealt(Free({2, 2, 2, 4, 4, 0}), Tasks(6), MakeNetwork(6, 3)), "n4:3 n5:3");
}

TEST(TreeChoice, RatherTakesMoreNodesOfOneLeafThanFewerOfTwo) {
  EXPECT_EQ(Dealt(Free({4, 0, 0, 4, 0, 0, 3, 3, 3}), Tasks(8), MakeNetwork(9, 3)),
            "n7:3 n8:3 n9:2");
}

TEST(TreeChoice, ClimbsOneLevelAfterTheOther) {
  // n1 and n2 are below spine1; n2 and n3 are below the root only.
  EXPECT_EQ(Dealt(Free({8, 8, 8}), Nodes(2, 2), MakeNetwork(3, 1)), "n1:1 n2:1");
  EXPECT_EQ(Dealt(Free({8, 0, 8, 8}), Nodes(2, 2), MakeNetwork(4, 1)), "n3:1 n4:1");
  EXPECT_EQ(Dealt(Free({8, 0, 8, 0}), Nodes(2, 2), MakeNetwork(4, 1)), "n1:1 n3:1");
}

TEST(TreeChoice, TakesTheFewestLeavesAndAsMuchOfEach) {
  // Four nodes: two leaves of one spine, two nodes on each, not three and one.
  EXPECT_EQ(Dealt(Free({8, 8, 8, 8, 8, 8}), Nodes(4, 4), MakeNetwork(6, 3)), "n1:1 n2:1 n4:1 n5:1");
  // Of the four leaves below the root those two that have just enough.
  EXPECT_EQ(Dealt(Free({8, 8, 8, 0, 0, 0, 8, 8, 0, 8, 8, 0}), Nodes(4, 4), MakeNetwork(12, 3)),
            "n7:1 n8:1 n10:1 n11:1");
}

TEST(TreeChoice, KeepsLighterNodesBeforeASmallerSpan) {
  std::vector<NodeSnapshot> nodes = Free({8, 8, 8, 8});
  nodes[1].weight = nodes[3].weight = 5;
  EXPECT_EQ(Dealt(nodes, Nodes(2, 2), MakeNetwork(4, 2)), "n1:1 n3:1");
}

TEST(TreeChoice, HasANodeOffTheMapAsTheLastResort) {
  EXPECT_EQ(Dealt(Free({0, 8, 8, 8}), Nodes(2, 2), MakeNetwork(3, 1)), "n2:1 n3:1");
  EXPECT_EQ(Dealt(Free({0, 0, 8, 8}), Nodes(2, 2), MakeNetwork(3, 1)), "n3:1 n4:1");
}

TEST(TreeChoice, KeepsToTheNodesThatAreNamed) {
  ResourceRequest request = Nodes(2, 2);
  request.nodelist = {"n4"};
  EXPECT_EQ(Dealt(Free({8, 8, 8, 8}), request, MakeNetwork(4, 2)), "n3:1 n4:1");
  request.nodelist = {"n1", "n4"};
  EXPECT_EQ(Dealt(Free({8, 8, 8, 8}), request, MakeNetwork(4, 2)), "n1:1 n4:1");
}

TEST(TreeChoice, TakesBaseBlocksForLeaves) {
  auto network = std::make_shared<Network>();
  network->block_sizes = {2, 4};
  for (const char* name : {"b1", "b2", "b3", "b4"}) {
    network->blocks.push_back({name, {}});
  }
  for (std::uint32_t i = 0; i < 8; ++i) {
    network->nodes.push_back({absl::StrCat("n", i + 1), kNowhere, i / 2, kNowhere});
  }
  EXPECT_EQ(Dealt(Free({8, 0, 8, 8, 8, 8, 8, 8}), Nodes(2, 2), network), "n3:1 n4:1");
  // Blocks 3 and 4 are put together; 2 and 3 are not.
  EXPECT_EQ(Dealt(Free({0, 8, 8, 8, 8, 8, 8, 8}), Nodes(4, 4), network), "n5:1 n6:1 n7:1 n8:1");
}

TEST(TreeChoice, TakesNVLinkDomainsForLeavesWhereThereIsNothingElse) {
  auto network = std::make_shared<Network>();
  network->nvlink_domains = {{"d1", {}}, {"d2", {}}};
  for (std::uint32_t i = 0; i < 4; ++i) {
    network->nodes.push_back({absl::StrCat("n", i + 1), kNowhere, kNowhere, i / 2});
  }
  EXPECT_EQ(Dealt(Free({8, 0, 8, 8}), Nodes(2, 2), network), "n3:1 n4:1");
}

TEST(TreeChoice, KeepsAReservationTogether) {
  // n1 is free now, n3 and n4 in an hour, n2 never: the job waits for those below one switch.
  Snapshot snapshot;
  snapshot.now = testing::At(1000);
  snapshot.nodes = Free({8, 8, 8, 8});
  snapshot.network = MakeNetwork(4, 2);
  for (const std::uint32_t node : {1U, 2U, 3U}) {
    NodeSnapshot& node_snapshot = snapshot.nodes[node];
    for (std::uint32_t cpu = 0; cpu < 8; ++cpu) {
      node_snapshot.taken.cpus.Insert(cpu);
    }
    Holding holding;
    holding.job = JobId(10 + node);
    holding.ends = node == 1 ? kNoTime : testing::At(4600);
    holding.cpus = node_snapshot.taken.cpus;
    node_snapshot.holdings.push_back(holding);
  }
  WaitingJob job;
  job.id = job.submission = JobId(1);
  job.spec = std::make_shared<const JobSpec>(testing::Normal(Nodes(2, 2)));
  snapshot.waiting.push_back(job);
  const Plan plan = MakePlan(snapshot, SchedulerConfig());
  ASSERT_EQ(plan.reservations.size(), 1U);
  EXPECT_EQ(plan.reservations[0].start, testing::At(4600));
  ASSERT_EQ(plan.reservations[0].nodes.size(), 2U);
  EXPECT_EQ(plan.reservations[0].nodes[0].node, NodeId(3));
  EXPECT_EQ(plan.reservations[0].nodes[1].node, NodeId(4));
}

// A small cluster, and what a set of its nodes (as bits) is to a job.
class SmallTree {
 public:
  explicit SmallTree(std::mt19937_64& random) : random_(random) {
    Network network;
    const std::uint32_t switches = Number(1, 6);
    for (std::uint32_t i = 0; i < switches; ++i) {
      const std::uint32_t parent = i == 0 || Number(0, 9) == 0 ? kNowhere : Number(0, i - 1);
      network.switches.push_back({absl::StrCat("s", i), SwitchKind::kSwitch, parent, 0, {}});
    }
    const bool alike = Number(0, 1) == 1;
    const std::uint32_t same = Number(1, 3);
    for (std::uint32_t i = 0; i < Number(2, 7); ++i) {
      nodes_.push_back(MakeNode(i + 1, {}));
      rooms_.push_back(Number(0, 3) == 0 ? 0 : alike ? same : Number(1, 4));
      if (Number(0, 7) > 0) {
        network.nodes.push_back({nodes_.back().name, Number(0, switches - 1), kNowhere, kNowhere});
      }
    }
    alike_ = alike;
    tree_.emplace(network, nodes_);
  }

  ResourceRequest AnyRequest() {
    ResourceRequest request = Tasks(Number(1, 9));
    request.min_nodes = Number(1, std::min(request.tasks, 4U));
    request.max_nodes = Number(request.min_nodes, request.tasks);
    return request;
  }

  [[nodiscard]] std::vector<CandidateNode> Candidates() const {
    std::vector<CandidateNode> candidates;
    for (std::uint32_t i = 0; i < nodes_.size(); ++i) {
      if (rooms_[i] > 0) {
        candidates.push_back(CandidateNode{&nodes_[i], i, rooms_[i], rooms_[i], 0});
      }
    }
    return candidates;
  }

  [[nodiscard]] std::uint32_t sets() const { return 1U << nodes_.size(); }
  [[nodiscard]] bool alike() const { return alike_; }
  [[nodiscard]] const NodeTree& tree() const { return *tree_; }

  [[nodiscard]] bool Holds(std::uint32_t set, const ResourceRequest& request) const {
    std::uint32_t room = 0;
    std::uint32_t nodes = 0;
    for (std::uint32_t i = 0; i < nodes_.size(); ++i) {
      if ((set >> i & 1U) != 0) {
        if (rooms_[i] == 0) {
          return false;
        }
        room += rooms_[i];
        ++nodes;
      }
    }
    return nodes >= request.min_nodes && nodes <= request.max_nodes && room >= request.tasks &&
           nodes <= request.tasks;
  }

  // The level of the lowest switch above all of them, plus one; 0 for a single node.
  [[nodiscard]] std::uint32_t Level(std::uint32_t set) const {
    std::optional<std::set<std::uint32_t>> above;
    for (std::uint32_t i = 0; i < nodes_.size(); ++i) {
      if ((set >> i & 1U) == 0) {
        continue;
      }
      std::set<std::uint32_t> its;
      for (std::uint32_t at = tree_->LeafOf(i); at != kNowhere; at = tree_->ParentOf(at)) {
        if (!above.has_value() || above->contains(at)) {
          its.insert(at);
        }
      }
      above = its;
    }
    std::uint32_t lowest = UINT32_MAX;
    for (const std::uint32_t at : *above) {
      lowest = std::min(lowest, tree_->LevelOf(at));
    }
    return (set & (set - 1)) == 0 ? 0 : lowest + 1;
  }

  [[nodiscard]] std::uint32_t Leaves(std::uint32_t set) const {
    std::set<std::uint32_t> leaves;
    for (std::uint32_t i = 0; i < nodes_.size(); ++i) {
      if ((set >> i & 1U) != 0) {
        leaves.insert(tree_->LeafOf(i));
      }
    }
    return static_cast<std::uint32_t>(leaves.size());
  }

 private:
  std::uint32_t Number(std::uint32_t low, std::uint32_t high) {
    return low + static_cast<std::uint32_t>(random_() % (std::uint64_t{high} - low + 1));
  }

  std::mt19937_64& random_;
  std::vector<NodeSnapshot> nodes_;
  std::vector<std::uint32_t> rooms_;
  bool alike_ = false;
  std::optional<NodeTree> tree_;
};

std::uint32_t SetOf(const std::vector<NodeShare>& shares) {
  std::uint32_t set = 0;
  for (const NodeShare& share : shares) {
    set |= 1U << share.node;
  }
  return set;
}

TEST(TreeChoice, NoSetOfNodesThatHoldsTheJobHasASmallerSpan) {
  std::mt19937_64 random(7);
  int placed = 0;
  int on_several_leaves = 0;
  for (int round = 0; round < 30'000; ++round) {
    SmallTree small(random);
    const ResourceRequest request = small.AnyRequest();
    const std::vector<NodeShare> shares = ChooseNodes(small.Candidates(), request, &small.tree());
    std::uint32_t lowest = UINT32_MAX;
    std::uint32_t leaves = UINT32_MAX;
    for (std::uint32_t set = 1; set < small.sets(); ++set) {
      if (small.Holds(set, request) && small.Level(set) <= lowest) {
        leaves =
            small.Level(set) < lowest ? small.Leaves(set) : std::min(leaves, small.Leaves(set));
        lowest = small.Level(set);
      }
    }
    ASSERT_EQ(shares.empty(), lowest == UINT32_MAX) << "round " << round;
    if (shares.empty()) {
      continue;
    }
    ++placed;
    const std::uint32_t chosen = SetOf(shares);
    ASSERT_TRUE(small.Holds(chosen, request)) << "round " << round;
    ASSERT_EQ(small.Level(chosen), lowest) << "round " << round;
    if (small.alike() && small.Leaves(chosen) > 1) {
      ++on_several_leaves;
      ASSERT_EQ(small.Leaves(chosen), leaves) << "round " << round;
    }
  }
  EXPECT_GT(placed, 10'000);
  EXPECT_GT(on_several_leaves, 500);
}

}  // namespace
}  // namespace muster::core
