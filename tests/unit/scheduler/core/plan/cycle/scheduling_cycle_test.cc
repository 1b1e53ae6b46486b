#include "scheduler/core/plan/cycle/scheduling_cycle.h"

#include <gtest/gtest.h>

#include "tests/unit/scheduler/core/builders.h"

namespace muster::core {
namespace {

TEST(SchedulingCycle, EveryWaitingJobIsStartedOrLeftWithAReason) {
  testing::World world;
  world.AddNode("n1");
  for (const std::uint32_t tasks : {3U, 2U, 1U, 9U}) {
    world.Submit(testing::Tasks(tasks));
  }
  const std::shared_ptr<const Snapshot> snapshot = BuildSnapshot(world.state, world.now);
  StartOptions options(*snapshot);
  Availability availability(*snapshot);
  const Plan plan = SchedulingCycle(*snapshot, world.config, options, availability)
                        .Run(QueuePriority(*snapshot, world.config));
  EXPECT_EQ(plan.version, world.state.version());
  EXPECT_EQ(plan.starts.size() + plan.waiting.size(), 4U);
  EXPECT_EQ(plan.hash, MakePlan(*snapshot, world.config).hash);
}

}  // namespace
}  // namespace muster::core
