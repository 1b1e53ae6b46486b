#include "cli/images/container_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

NodeView Node(const std::string& name, std::vector<std::string> features) {
  NodeView node;
  node.name = name;
  node.features = std::move(features);
  return node;
}

NodeImage Container(const std::string& node, const std::string& name, bool in_use) {
  NodeImage image;
  image.node = node;
  image.container = name;
  image.in_use = in_use;
  return image;
}

TEST(ContainerCheckTest, TheMachinesAreThoseOfTheNodesThatRunContainers) {
  EXPECT_THAT(ContainerMachines({Node("n1", {"containers", "containers-arm64"}),
                                 Node("n2", {"containers", "containers-amd64", "fast"}),
                                 Node("n3", {"containers", "containers-amd64"}), Node("n4", {})}),
              ElementsAre("amd64", "arm64"));
}

TEST(ContainerCheckTest, AnOlderAgentMayBeAnyMachine) {
  EXPECT_THAT(ContainerMachines(
                  {Node("n1", {"containers", "containers-arm64"}), Node("n2", {"containers"})}),
              IsEmpty());
}

TEST(ContainerCheckTest, ANameIsTakenWhereEveryNodeUsesIt) {
  const std::vector<NodeView> nodes = {Node("n1", {"containers"}), Node("n2", {"containers"}),
                                       Node("n3", {})};
  ImageTable images;
  images.images = {Container("n1", "dev", true), Container("n2", "dev", false)};
  EXPECT_THAT(NodesThatUse("dev", images, nodes), IsEmpty());
  images.images[1].in_use = true;
  EXPECT_THAT(NodesThatUse("dev", images, nodes), ElementsAre("n1", "n2"));
  EXPECT_THAT(NodesThatUse("other", images, nodes), IsEmpty());
  EXPECT_THAT(NodesThatUse("dev", images, {}), IsEmpty());
}

}  // namespace
}  // namespace muster::cli
