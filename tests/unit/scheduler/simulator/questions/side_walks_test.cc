#include "scheduler/simulator/questions/side_walks.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>

#include "tests/unit/scheduler/core/policy_world.h"

namespace muster::sim {
namespace {

using core::testing::PolicyWorld;
using core::testing::Tasks;

TEST(SideWalks, AWalkFromASmallClusterBreaksNoInvariant) {
  PolicyWorld world;
  world.AddNode("n1", {.cores = 8, .gpus = 2});
  world.AddNode("n2", {.cores = 8, .gpus = 2});
  world.Submit(Tasks(1, 2));
  world.Schedule();
  world.Submit(Tasks(2, 4));
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    RandomSequence random(seed);
    EXPECT_EQ(WrongWalk(world.state, world.now, world.config, random), std::nullopt) << seed;
  }
}

TEST(SideWalks, AWalkFromANewClusterBreaksNoInvariant) {
  const PolicyWorld world;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    RandomSequence random(seed);
    EXPECT_EQ(WrongWalkOfANewCluster(world.now, world.config, random), std::nullopt) << seed;
  }
}

}  // namespace
}  // namespace muster::sim
