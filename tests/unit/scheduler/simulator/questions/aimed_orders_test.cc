#include "scheduler/simulator/questions/aimed_orders.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <variant>

#include "tests/unit/scheduler/core/policy_world.h"

namespace muster::sim {
namespace {

using core::testing::PolicyWorld;

TEST(AimedOrders, NodesAreThoseThatAreThere) {
  PolicyWorld world;
  world.AddNode("n1");
  std::set<std::size_t> kinds;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    RandomSequence random(seed);
    const Command command = DrawOrdered(world.state, world.now, random);
    kinds.insert(command.index());
    if (const auto* reboot = std::get_if<RebootNode>(&command)) {
      EXPECT_EQ(reboot->name, "n1");
    }
  }
  EXPECT_GT(kinds.size(), 8U);
}

TEST(AimedOrders, AClusterWithoutNodesIsLookedAt) {
  RandomSequence random(1);
  EXPECT_TRUE(
      std::holds_alternative<TickHealth>(DrawOrdered(core::ClusterState(), kNoTime, random)));
}

}  // namespace
}  // namespace muster::sim
