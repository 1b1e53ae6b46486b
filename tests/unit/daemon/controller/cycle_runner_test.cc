#include "daemon/controller/cycle_runner.h"

#include <gtest/gtest.h>

#include <future>
#include <memory>
#include <utility>

#include "scheduler/core/plan/planner.h"
#include "tests/unit/scheduler/core/builders.h"

namespace muster::daemon {
namespace {

class CycleRunnerTest : public ::testing::Test {
 protected:
  CycleRunnerTest() { runner_.Start(); }

  std::shared_ptr<const Cycle> MakeCycle(const Plan* last = nullptr) {
    const auto made = std::make_shared<std::promise<std::shared_ptr<const Cycle>>>();
    runner_.Begin(world_.state, world_.now, last,
                  std::make_shared<const SchedulerConfig>(world_.config),
                  [made](const std::shared_ptr<const Cycle>& cycle) { made->set_value(cycle); });
    EXPECT_TRUE(runner_.running());
    return made->get_future().get();
  }

  core::testing::World world_;
  Meters meters_;
  CycleRunner runner_{[](std::shared_ptr<const Snapshot> snapshot, const SchedulerConfig& config,
                         core::PlannerMemory& memory) {
                        return core::MakePlan(std::move(snapshot), config, memory);
                      },
                      meters_};
};

TEST_F(CycleRunnerTest, PlansOnTheStateAsItWas) {
  world_.AddNode("n1");
  const JobId job = world_.Submit(core::testing::Tasks(1));
  const std::shared_ptr<const Cycle> cycle = MakeCycle();
  ASSERT_EQ(cycle->plan->starts.size(), 1U);
  EXPECT_EQ(cycle->plan->starts.front().job, job);
  EXPECT_FALSE(cycle->follows);
  EXPECT_FALSE(cycle->full);
  EXPECT_TRUE(cycle->overlooked.empty());
  EXPECT_TRUE(runner_.End(*cycle));
  EXPECT_FALSE(runner_.running());
  const std::shared_ptr<const Cycle> next = MakeCycle(cycle->plan.get());
  EXPECT_TRUE(next->follows);
  EXPECT_TRUE(runner_.End(*next));
}

TEST_F(CycleRunnerTest, ACycleOnAStateThatWasReplacedDoesNotCount) {
  const std::shared_ptr<const Cycle> cycle = MakeCycle();
  runner_.Forget();
  EXPECT_FALSE(runner_.End(*cycle));
  const std::shared_ptr<const Cycle> next = MakeCycle();
  EXPECT_TRUE(runner_.End(*next));
}

}  // namespace
}  // namespace muster::daemon
