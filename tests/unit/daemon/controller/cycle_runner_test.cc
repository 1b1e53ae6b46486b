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

AttemptStarted Started(JobId job, Time time) {
  AttemptStarted start;
  start.job = job;
  start.time = time;
  return start;
}

TEST_F(CycleRunnerTest, AStartIsHeldAgainstThePlanThatPromisedIt) {
  world_.AddNode("n1");
  JobSpec whole;
  whole.request = core::testing::Tasks(1);
  whole.request.exclusive = true;
  whole.time_limit = std::chrono::hours(1);
  const JobId running = world_.Submit(whole);
  world_.Schedule();
  world_.Submit(whole);
  const JobId late = world_.Submit(whole);
  const std::shared_ptr<const Cycle> cycle = MakeCycle();
  ASSERT_EQ(cycle->plan->reservations.size(), 2U);
  ASSERT_TRUE(runner_.End(*cycle));
  runner_.Note(Started(running, world_.now), Version(1));
  EXPECT_EQ(meters_.promises_kept + meters_.promises_missed, 0U) << "nobody had promised it";
  for (const PlannedReservation& promise : cycle->plan->reservations) {
    const bool is_late = promise.job == late;
    runner_.Note(Started(promise.job, promise.start + std::chrono::seconds(is_late ? 2 : 1)),
                 Version(2));
  }
  EXPECT_EQ(meters_.promises_kept, 1U);
  EXPECT_EQ(meters_.promises_missed, 1U);
}

TEST_F(CycleRunnerTest, WhatTheStateHadPromisedCountsAfterARestartAndNothingOfAReplacedOne) {
  world_.AddNode("n1");
  world_.config.priority.order = QueueRule::kPrompt;
  const JobId job = world_.Submit(core::testing::Tasks(1));
  world_.state.Apply(StartPromised{job, world_.now, world_.now});
  ASSERT_TRUE(runner_.End(*MakeCycle()));
  runner_.Note(Started(job, world_.now + std::chrono::seconds(5)), Version(1));
  EXPECT_EQ(meters_.promises_missed, 1U);
  runner_.Note(StartPromised{job, world_.now, world_.now}, Version(2));
  runner_.Forget();
  runner_.Note(Started(job, world_.now), Version(3));
  EXPECT_EQ(meters_.promises_kept, 0U);
  EXPECT_EQ(meters_.promises_missed, 1U) << "a counter never falls";
}

}  // namespace
}  // namespace muster::daemon
