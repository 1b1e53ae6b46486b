#include "scheduler/simulator/workload/machines.h"

#include <gtest/gtest.h>

#include "scheduler/model/machine/machine_check.h"

namespace muster::sim {
namespace {

TEST(Machines, EachIsOneThatAControllerTakes) {
  RandomSequence random(1);
  int sockets = 0;
  int divisible = 0;
  for (std::uint32_t i = 0; i < 300; ++i) {
    const Machine machine = DrawMachine(8, 1 + i % 2, 4, random);
    EXPECT_TRUE(CheckMachine(machine).ok()) << CheckMachine(machine);
    sockets += machine.packages.size() > 1 ? 1 : 0;
    divisible += machine.mig.empty() ? 0 : 1;
  }
  EXPECT_GT(sockets, 30);
  EXPECT_GT(divisible, 30);
}

TEST(Machines, PositionsInANetworkAreThoseOfItsOwnParts) {
  RandomSequence random(2);
  for (int i = 0; i < 300; ++i) {
    const Network network = DrawNetwork(5, random);
    for (std::size_t at = 0; at < network.switches.size(); ++at) {
      const std::uint32_t parent = network.switches[at].parent;
      EXPECT_TRUE(parent == kNowhere || parent < at);
    }
    for (const NetworkNode& node : network.nodes) {
      EXPECT_TRUE(node.leaf == kNowhere || network.switches.at(node.leaf).level == 0);
      EXPECT_TRUE(node.block == kNowhere || node.block < network.blocks.size());
      EXPECT_TRUE(node.domain == kNowhere || node.domain < network.nvlink_domains.size());
    }
  }
}

}  // namespace
}  // namespace muster::sim
