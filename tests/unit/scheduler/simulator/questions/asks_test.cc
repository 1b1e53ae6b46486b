#include "scheduler/simulator/questions/asks.h"

#include <gtest/gtest.h>

#include "scheduler/core/plan/snapshot_builder.h"
#include "scheduler/simulator/questions/drawn_questions.h"
#include "tests/unit/scheduler/core/policy_world.h"

namespace muster::sim {
namespace {

using core::testing::PolicyWorld;
using core::testing::Tasks;

TEST(Asks, TheAnswersOfASmallClusterAreRight) {
  PolicyWorld world;
  world.AddNode("n1");
  world.Submit(Tasks(1, 4));
  world.Submit(Tasks(1, 4));
  const auto snapshot = core::BuildSnapshot(world.state, world.now);
  const Plan plan = world.MakePlanNow();
  Asks asks(1);
  for (int i = 0; i < 200; ++i) {
    EXPECT_EQ(asks.Look(world.state, *snapshot, plan, world.config), std::nullopt);
  }
}

TEST(DrawnQuestions, AllHaveAnswersThatKeepTheirUnitsPromises) {
  RandomSequence random(1);
  for (int i = 0; i < 3000; ++i) {
    EXPECT_EQ(WrongAnswerToAnything(random), std::nullopt) << "question " << i;
  }
}

}  // namespace
}  // namespace muster::sim
