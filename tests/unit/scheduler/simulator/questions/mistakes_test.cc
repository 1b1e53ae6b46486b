#include "scheduler/simulator/questions/mistakes.h"

#include <gtest/gtest.h>

#include "tests/unit/scheduler/core/policy_world.h"

namespace muster::sim {
namespace {

using core::testing::PolicyWorld;
using core::testing::Tasks;

TEST(Mistakes, NoSpoiltCommandIsHalfRefusedOrBreaksTheState) {
  PolicyWorld world;
  world.AddNode("n1");
  const JobId running = world.Submit(Tasks(1, 2));
  world.Schedule();
  world.Submit(Tasks(1, 4));
  SubmitJob submit;
  submit.token = "one more";
  submit.spec = world.Spec(Tasks(1));
  submit.program = core::testing::Script();
  Mistakes mistakes(1);
  for (const Command& command :
       {Command(submit), Command(CancelJob{running, std::nullopt, submit.spec.user}),
        Command(HoldJob{running, std::nullopt, true, submit.spec.user})}) {
    for (int i = 0; i < 300; ++i) {
      EXPECT_EQ(mistakes.Look(world.state, command, world.now, world.config), std::nullopt);
    }
  }
}

}  // namespace
}  // namespace muster::sim
