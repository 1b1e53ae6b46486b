#include "scheduler/core/place/nodes/feature_match.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "scheduler/core/place/nodes/node_selection.h"
#include "scheduler/core/plan/search/feasibility.h"
#include "tests/unit/scheduler/core/builders.h"

namespace muster::core {
namespace {

using testing::Asks;
using testing::MakeNode;
using testing::Tasks;

FeatureToken Has(const std::string& name) {
  return {FeatureOp::kHas, name};
}
const FeatureToken kAnd{FeatureOp::kAnd, ""};
const FeatureToken kOr{FeatureOp::kOr, ""};
const FeatureToken kNot{FeatureOp::kNot, ""};

NodeSnapshot With(std::uint32_t id, std::vector<std::string> features, std::uint32_t weight = 0) {
  NodeSnapshot node = MakeNode(id, {});
  node.features = std::move(features);
  node.weight = weight;
  return node;
}

std::string Placed(const std::vector<NodeSnapshot>& nodes, const ResourceRequest& request) {
  const std::optional<Allocation> place = PlaceJob(nodes, request, ClusterView::kAsIs);
  std::string names;
  for (std::size_t i = 0; place.has_value() && i < place->nodes.size(); ++i) {
    absl::StrAppend(&names, i == 0 ? "" : ",", place->nodes[i].name);
  }
  return names;
}

ResourceRequest OnNodes(std::uint32_t nodes) {
  ResourceRequest request;
  request.min_nodes = nodes;
  return request;
}

Reason WhyNot(const std::vector<NodeSnapshot>& nodes, const ResourceRequest& request) {
  Snapshot snapshot;
  snapshot.nodes = nodes;
  Need need;
  need.request = &request;
  return WhyNotNow(snapshot.nodes, Availability(snapshot), need, snapshot.now);
}

TEST(FeatureMatch, ExpressionsAreEvaluatedAsWritten) {
  const FeatureExpression expression{{Has("a"), Has("b"), Has("c"), kNot, kOr, kAnd}};
  EXPECT_EQ(ToText(expression), "a&(b|!c)");
  EXPECT_TRUE(Matches(expression, {"a", "b", "c"}));
  EXPECT_TRUE(Matches(expression, {"a"}));
  EXPECT_FALSE(Matches(expression, {"a", "c"}));
  EXPECT_FALSE(Matches(expression, {"b"}));
  EXPECT_TRUE(Matches(FeatureExpression(), {}));
}

TEST(FeatureMatch, IncompleteExpressionsAreToldApart) {
  EXPECT_FALSE(IsComplete({{kAnd}}));
  EXPECT_FALSE(IsComplete({{Has("a"), kAnd}}));
  EXPECT_FALSE(IsComplete({{Has("a"), Has("b")}}));
  EXPECT_TRUE(IsComplete({{Has("a"), kNot}}));
  EXPECT_TRUE(IsComplete({}));
}

TEST(FeatureMatch, AJobStartsOnlyOnNodesThatMatch) {
  const std::vector<NodeSnapshot> nodes = {With(1, {"cpu"}), With(2, {"gpu"}), With(3, {"gpu"})};
  ResourceRequest request = Tasks(1);
  request.constraint.every.postfix = {Has("gpu")};
  EXPECT_EQ(Placed(nodes, Asks(request)), "n2");
  request.exclude = {"n2"};
  EXPECT_EQ(Placed(nodes, Asks(request)), "n3");
  request.exclude = {"n2", "n3"};
  EXPECT_EQ(Placed(nodes, Asks(request)), "");
  EXPECT_EQ(ToSentence(WhyNot(nodes, Asks(request))),
            "never on this cluster: 3 nodes: 1 without the features gpu, 2 excluded");
}

TEST(FeatureMatch, LighterNodesAreTakenFirst) {
  const std::vector<NodeSnapshot> nodes = {With(1, {}, 10), With(2, {}, 1), With(3, {}, 5)};
  EXPECT_EQ(Placed(nodes, Asks(Tasks(1))), "n2");
  EXPECT_EQ(Placed(nodes, Asks(OnNodes(2))), "n2,n3");
  EXPECT_EQ(Placed(nodes, Asks(OnNodes(3))), "n1,n2,n3");
}

TEST(FeatureMatch, ListedNodesAreUsedAndOthersOnlyWhenMoreAreNeeded) {
  const std::vector<NodeSnapshot> nodes = {With(1, {}), With(2, {}), With(3, {})};
  ResourceRequest request;
  request.nodelist = {"n3", "n2"};
  EXPECT_EQ(Placed(nodes, Asks(request)), "n2,n3");
  request.min_nodes = 3;
  EXPECT_EQ(Placed(nodes, Asks(request)), "n1,n2,n3");
  request = ResourceRequest();
  request.nodelist = {"n3", "x9"};
  EXPECT_EQ(Placed(nodes, Asks(request)), "");
  EXPECT_EQ(ToSentence(WhyNot(nodes, Asks(request))),
            "never on this cluster: 3 nodes: 2 not in the node list, cannot use x9 of its node "
            "list");
}

TEST(FeatureMatch, CountsAreMetTogether) {
  const std::vector<NodeSnapshot> nodes = {With(1, {"a"}), With(2, {"a"}), With(3, {"b"}),
                                           With(4, {"b"}), With(5, {"c"})};
  ResourceRequest request;
  request.constraint.counts = {{{{Has("a")}}, 1}, {{{Has("b")}}, 2}};
  EXPECT_EQ(Placed(nodes, Asks(request)), "n1,n3,n4");
  request.min_nodes = 4;
  EXPECT_EQ(Placed(nodes, Asks(request)), "n1,n2,n3,n4");
  request = ResourceRequest();
  request.constraint.counts = {{{{Has("b")}}, 3}};
  EXPECT_EQ(Placed(nodes, Asks(request)), "");
  EXPECT_EQ(ToSentence(WhyNot(nodes, Asks(request))),
            "never on this cluster: 5 nodes: needs 3 nodes with b, only 2 fit");
}

TEST(FeatureMatch, NodesThatCountTwiceAreTakenWhereThereIsNotATaskForEach) {
  std::vector<NodeSnapshot> nodes = {With(1, {"a"}), With(2, {"a"}), With(3, {"a", "b"})};
  ResourceRequest request = Tasks(2);
  request.min_nodes = 2;
  request.max_nodes = 3;
  request.tasks_per_node = 1;
  request.constraint.counts = {{{{Has("a")}}, 2}, {{{Has("b")}}, 1}};
  EXPECT_EQ(Placed(nodes, request), "n1,n3");
  nodes[2].features = {"b"};
  EXPECT_EQ(Placed(nodes, request), "");
  request.tasks = 3;
  EXPECT_EQ(Placed(nodes, request), "n1,n2,n3");
}

RC_GTEST_PROP(FeatureMatch, WhateverIsPlacedKeepsItsConstraint, ()) {
  const auto features = *rc::gen::container<std::vector<std::vector<std::string>>>(
      6,
      rc::gen::container<std::vector<std::string>>(rc::gen::element<std::string>("a", "b", "c")));
  std::vector<NodeSnapshot> nodes;
  for (std::uint32_t i = 0; i < features.size(); ++i) {
    std::vector<std::string> sorted = features[i];
    std::sort(sorted.begin(), sorted.end());
    nodes.push_back(With(i + 1, sorted, *rc::gen::inRange(0U, 3U)));
  }
  ResourceRequest request = OnNodes(*rc::gen::inRange(3U, 5U));
  request.constraint.every.postfix = {Has("c"), kNot};
  request.constraint.counts = {{{{Has("a")}}, 1}, {{{Has("b")}}, 2}};
  request.exclude = {"n1"};
  const ResourceRequest asks = Asks(request);
  const std::optional<Allocation> place = PlaceJob(nodes, asks, ClusterView::kAsIs);
  if (!place.has_value()) {
    return;
  }
  std::uint32_t a = 0;
  std::uint32_t b = 0;
  for (const NodeAllocation& part : place->nodes) {
    const NodeSnapshot& node = nodes[part.node.value() - 1];
    RC_ASSERT(NodeMay(node, asks));
    a += Matches({{Has("a")}}, node.features) ? 1 : 0;
    b += Matches({{Has("b")}}, node.features) ? 1 : 0;
  }
  RC_ASSERT(a >= 1U && b >= 2U);
  RC_ASSERT(place->nodes.size() >= asks.min_nodes && place->nodes.size() <= asks.max_nodes);
}

}  // namespace
}  // namespace muster::core
