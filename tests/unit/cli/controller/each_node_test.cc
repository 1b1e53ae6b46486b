#include "cli/controller/each_node.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::cli {
namespace {

using ::testing::ElementsAre;

TEST(EachNodeTest, ListsBecomeNamesEachOnce) {
  const auto nodes = NodesIn({"n[1-3]", "n2", "m1"});
  ASSERT_TRUE(nodes.ok()) << nodes.status();
  EXPECT_THAT(*nodes, ElementsAre("n1", "n2", "n3", "m1"));
}

TEST(EachNodeTest, AListThatCannotBeReadIsRefusedWhole) {
  EXPECT_FALSE(NodesIn({"n1", "n[3-"}).ok());
}

TEST(EachNodeTest, ARefusalOfOneAloneIsTheAnswer) {
  const auto code = ForEachNode("drain", {"n1"}, [](const std::string& node) {
    return absl::NotFoundError("node " + node + ": no such node");
  });
  EXPECT_TRUE(absl::IsNotFound(code.status()));
}

TEST(EachNodeTest, OfSeveralAllAreCalledAndEachRefusalIsALine) {
  std::vector<std::string> called;
  ::testing::internal::CaptureStderr();
  const auto code = ForEachNode("drain", {"n1", "n2", "n3"}, [&](const std::string& node) {
    called.push_back(node);
    return node == "n3" ? absl::OkStatus() : absl::NotFoundError("node " + node);
  });
  EXPECT_EQ(::testing::internal::GetCapturedStderr(),
            "muster drain: node n1\nmuster drain: node n2\n");
  EXPECT_THAT(called, ElementsAre("n1", "n2", "n3"));
  EXPECT_EQ(code.value_or(0), 1);
}

}  // namespace
}  // namespace muster::cli
