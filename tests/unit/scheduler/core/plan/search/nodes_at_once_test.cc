#include "scheduler/core/plan/search/nodes_at_once.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "absl/strings/str_cat.h"
#include "scheduler/core/place/nodes/task_capacity.h"
#include "scheduler/core/place/request.h"
#include "scheduler/core/plan/search/feasibility.h"
#include "tests/unit/scheduler/core/builders.h"

namespace muster::core {
namespace {

using testing::At;

PowerClass Cloud(const std::string& nodes, std::uint32_t most_on) {
  PowerClass kind;
  kind.name = "cloud";
  kind.nodes = nodes;
  kind.most_on = most_on;
  return kind;
}

// Nodes with these cores, n1, n2, …, all on.
std::vector<NodeSnapshot> NodesOf(const std::vector<std::uint32_t>& cores) {
  std::vector<NodeSnapshot> nodes;
  for (std::size_t i = 0; i < cores.size(); ++i) {
    testing::Shape shape;
    shape.cores = cores[i];
    nodes.push_back(testing::MakeNode(static_cast<std::uint32_t>(i + 1), shape));
    nodes.back().name = absl::StrCat("n", i + 1);
  }
  return nodes;
}

ResourceRequest Asking(std::uint32_t tasks, std::uint32_t least, std::uint32_t most) {
  JobSpec spec = testing::Normal(testing::Tasks(tasks));
  spec.request.min_nodes = least;
  spec.request.max_nodes = most;
  return spec.request;
}

TEST(BeyondLimits, WhatIsOnItsWayComesBeforeWhatIsOffAndLighterBeforeHeavier) {
  std::vector<NodeSnapshot> nodes = NodesOf({4, 4, 4, 4, 4, 4});
  nodes[1].ready = At(2000);  // off
  nodes[2].ready = At(2000);
  nodes[3].ready = At(1100);  // boots
  nodes[4].ready = At(2000);
  nodes[1].weight = 5;
  nodes[5].ready = At(2000);
  const std::vector<PowerClass> classes = {Cloud("n[1-5]", 3)};
  EXPECT_EQ(BeyondLimits(nodes, PowerLimits(classes)), (std::vector<std::uint32_t>{1, 4}))
      << "the first is on, the fourth comes, one more may: the third";
}

TEST(BeyondLimits, ANodeThatDidNotBootIsNotOn) {
  std::vector<NodeSnapshot> nodes = NodesOf({4, 4});
  nodes[0].up = false;
  nodes[0].drained = true;
  nodes[1].ready = At(2000);
  const std::vector<PowerClass> classes = {Cloud("n[1-2]", 1)};
  EXPECT_TRUE(BeyondLimits(nodes, PowerLimits(classes)).empty());
}

TEST(NeverOnAtOnce, AJobForMoreNodesThanMayBeOnIsToldTheClass) {
  const std::vector<PowerClass> classes = {Cloud("n[2-4]", 2)};
  const std::vector<NodeSnapshot> nodes = NodesOf({4, 4, 4, 4});
  const PowerLimits limits(classes);
  EXPECT_FALSE(NeverOnAtOnce(nodes, nullptr, Asking(12, 3, 3), limits).has_value());
  const auto why = NeverOnAtOnce(nodes, nullptr, Asking(16, 4, 4), limits);
  ASSERT_TRUE(why.has_value());
  EXPECT_EQ(why->verdict, ReasonClass::kNever);
  EXPECT_EQ(ToSentence(*why),
            "never on this cluster: 4 nodes: needs 4 nodes, at most 3 can be on at once (max_on of "
            "[power.cloud])");
}

TEST(NeverOnAtOnce, TasksForMoreNodesThanMayBeOnAreCounted) {
  const std::vector<PowerClass> classes = {Cloud("ALL", 2)};
  const auto why =
      NeverOnAtOnce(NodesOf({4, 4, 4}), nullptr, Asking(12, 1, 3), PowerLimits(classes));
  ASSERT_TRUE(why.has_value());
  EXPECT_EQ(ToSentence(*why),
            "never on this cluster: 3 nodes: 2 with room for 8 of 12 tasks, at most 2 can be on at "
            "once (max_on of [power.cloud])");
}

TEST(NeverOnAtOnce, OnlyNodesWhereTheJobMayBeCount) {
  const std::vector<PowerClass> classes = {Cloud("n[1-2]", 1)};
  const std::vector<bool> inside = {true, true, false};
  const std::vector<NodeSnapshot> nodes = NodesOf({4, 4, 4});
  EXPECT_TRUE(NeverOnAtOnce(nodes, &inside, Asking(8, 2, 2), PowerLimits(classes)).has_value());
  EXPECT_FALSE(NeverOnAtOnce(nodes, nullptr, Asking(8, 2, 2), PowerLimits(classes)).has_value());
}

// By trying every set of nodes: each class within its maximum, and room for all tasks.
bool HoldsSome(const std::vector<std::uint32_t>& rooms, const std::vector<int>& of,
               const std::vector<std::uint32_t>& most_on, const ResourceRequest& request) {
  for (std::uint32_t set = 1; set < (1U << rooms.size()); ++set) {
    std::vector<std::uint32_t> on(most_on.size());
    std::uint32_t nodes = 0;
    std::uint32_t tasks = 0;
    for (std::size_t i = 0; i < rooms.size(); ++i) {
      if ((set >> i & 1U) != 0) {
        ++nodes;
        ++on[static_cast<std::size_t>(of[i])];
        tasks += rooms[i];
      }
    }
    bool within = nodes >= request.min_nodes && nodes <= request.max_nodes;
    for (std::size_t kind = 0; kind < on.size(); ++kind) {
      within = within && (most_on[kind] == 0 || on[kind] <= most_on[kind]);
    }
    if (within && tasks >= request.tasks) {
      return true;
    }
  }
  return false;
}

RC_GTEST_PROP(NeverOnAtOnce, IsSilentExactlyWhenSomeChoiceOfNodesIsWithinTheMaxima, ()) {
  const auto cores = *rc::gen::container<std::vector<std::uint32_t>>(
      static_cast<std::size_t>(*rc::gen::inRange(1, 8)), rc::gen::inRange<std::uint32_t>(1, 5));
  std::vector<std::uint32_t> most_on = {0};  // the first class has no maximum
  std::vector<PowerClass> classes;
  std::vector<std::string> lists(3);
  std::vector<int> of;
  for (std::size_t i = 0; i < cores.size(); ++i) {
    of.push_back(*rc::gen::inRange(0, 3));
    absl::StrAppend(&lists[static_cast<std::size_t>(of.back())], i == 0 ? "" : ",", "n", i + 1);
  }
  for (std::size_t kind = 1; kind < lists.size(); ++kind) {
    most_on.push_back(*rc::gen::inRange<std::uint32_t>(1, 4));
    std::string list = lists[kind];
    list.erase(0, list.find_first_not_of(','));
    classes.push_back(Cloud(list, most_on.back()));
  }
  const auto least = *rc::gen::inRange<std::uint32_t>(1, 6);
  const auto most = *rc::gen::inRange<std::uint32_t>(least, 8);
  const auto tasks = *rc::gen::inRange<std::uint32_t>(1, 20);
  const ResourceRequest request = Asking(tasks, least, most);
  const std::vector<NodeSnapshot> nodes = NodesOf(cores);
  RC_PRE(!WhyNever(nodes, request).has_value());
  const bool never = NeverOnAtOnce(nodes, nullptr, request, PowerLimits(classes)).has_value();
  RC_ASSERT(never == !HoldsSome(cores, of, most_on, request));
}

}  // namespace
}  // namespace muster::core
