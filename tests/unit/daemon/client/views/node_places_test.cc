#include "daemon/client/views/node_places.h"

#include <gmock/gmock.h>

namespace muster::daemon {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<NodeView> Named(const std::vector<std::string>& names) {
  std::vector<NodeView> nodes;
  for (const std::string& name : names) {
    nodes.emplace_back().name = name;
  }
  return nodes;
}

// A root above two leaves with a node each, and one that has no leaf but a block.
Network Tree() {
  Network network;
  network.switches.resize(3);
  network.switches[0].name = "root";
  network.switches[1].name = "left";
  network.switches[2].name = "right";
  network.switches[1].parent = network.switches[2].parent = 0;
  network.blocks = {{"b1", {}}};
  network.nodes = {{"n1", 1, kNowhere, kNowhere},
                   {"n2", 2, 0, kNowhere},
                   {"n3", kNowhere, 0, kNowhere},
                   {"n4", kNowhere, kNowhere, kNowhere}};
  return network;
}

TEST(NodePlaces, ANodeHasTheSwitchesAboveItFromTheTop) {
  const Network network = Tree();
  std::vector<NodeView> nodes = Named({"n2", "n1"});
  AddPlaces(&network, nodes);
  EXPECT_THAT(nodes[0].topology, ElementsAre("root", "right"));
  EXPECT_THAT(nodes[1].topology, ElementsAre("root", "left"));
}

TEST(NodePlaces, WithoutSwitchesItsBlockIsItsPlace) {
  const Network network = Tree();
  std::vector<NodeView> nodes = Named({"n3", "n4", "n5"});
  AddPlaces(&network, nodes);
  EXPECT_THAT(nodes[0].topology, ElementsAre("b1"));
  EXPECT_THAT(nodes[1].topology, IsEmpty()) << "the map knows no place for it";
  EXPECT_THAT(nodes[2].topology, IsEmpty()) << "it is not on the map";
}

TEST(NodePlaces, WithoutAMapNoNodeHasAPlace) {
  std::vector<NodeView> nodes = Named({"n1"});
  AddPlaces(nullptr, nodes);
  EXPECT_THAT(nodes[0].topology, IsEmpty());
}

}  // namespace
}  // namespace muster::daemon
