#include "scheduler/simulator/questions/plan_check.h"

#include <gtest/gtest.h>

#include "scheduler/core/explain/watchdog.h"
#include "scheduler/core/plan/snapshot_builder.h"
#include "tests/unit/scheduler/core/policy_world.h"

namespace muster::sim {
namespace {

using core::testing::PolicyWorld;
using core::testing::Tasks;

TEST(PlanCheck, AJobThatCyclesForgetIsFoundInTheThird) {
  PolicyWorld world;
  world.AddNode("n1");
  const JobId forgotten = world.Submit(Tasks(1, 3));
  Plan plan = world.MakePlanNow();
  PlanCheck check;
  const auto look = [&] {
    world.now += core::Watchdog::kPatienceTime;
    return check.Look(*core::BuildSnapshot(world.state, world.now), plan, world.config);
  };
  EXPECT_FALSE(look().has_value());
  plan.starts.clear();
  plan.waiting.push_back(LeftWaiting{.job = forgotten, .reason = {}, .also = {}});
  EXPECT_FALSE(look().has_value());
  EXPECT_FALSE(look().has_value());
  const auto wrong = look();
  ASSERT_TRUE(wrong.has_value());
  EXPECT_EQ(wrong->rfind("promise 8: job 1 waits", 0), 0U) << *wrong;
}

TEST(PlanCheck, AWaitingJobIsToldWhy) {
  PolicyWorld world;
  world.AddNode("n1");
  world.Submit(Tasks(1, 4));
  const JobId waits = world.Submit(Tasks(1, 4));
  const auto snapshot = core::BuildSnapshot(world.state, world.now);
  const Plan plan = world.MakePlanNow();
  EXPECT_EQ(WrongAnswer(*snapshot, waits, plan, world.config, true), std::nullopt);
}

}  // namespace
}  // namespace muster::sim
