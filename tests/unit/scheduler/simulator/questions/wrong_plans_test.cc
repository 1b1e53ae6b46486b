#include "scheduler/simulator/questions/wrong_plans.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>

#include "scheduler/core/handle/handle.h"
#include "scheduler/core/state/invariants.h"
#include "tests/unit/scheduler/core/policy_world.h"

namespace muster::sim {
namespace {

using core::testing::PolicyWorld;
using core::testing::Tasks;

TEST(WrongPlans, WhatIsTakenOfThemKeepsTheInvariants) {
  PolicyWorld world;
  world.AddNode("n1");
  world.AddNode("n2");
  world.Submit(Tasks(3));
  world.Schedule();
  world.Submit(Tasks(2));
  world.Submit(Tasks(1));
  const Plan plan = world.MakePlanNow();
  int refused = 0;
  for (std::uint64_t seed = 1; seed <= 500; ++seed) {
    RandomSequence random(seed);
    const TakePlan wrong{WrongPlan(world.state, plan, random)};
    const core::Transition found = core::Handle(world.state, wrong, world.now, world.config);
    core::ClusterState after = world.state;
    for (const Event& event : found.events) {
      after.Apply(event);
    }
    EXPECT_EQ(core::BrokenInvariant(after), std::nullopt) << seed;
    refused += core::testing::Only<Replan>(found).empty() ? 0 : 1;
  }
  EXPECT_GT(refused, 100);
}

}  // namespace
}  // namespace muster::sim
