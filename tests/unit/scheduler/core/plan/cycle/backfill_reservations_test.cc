#include "scheduler/core/plan/cycle/backfill_reservations.h"

#include <gtest/gtest.h>

#include "tests/unit/scheduler/core/plan/cycle/one_cycle.h"

namespace muster::core {
namespace {

using testing::OneCycle;
using testing::WholeNodes;

// Two nodes, both busy for a minute, and jobs that wait.
class BackfillReservationsTest : public ::testing::Test {
 protected:
  BackfillReservationsTest() {
    world_.config.backfill = Backfill::kEasy;
    world_.AddNode("n1");
    world_.AddNode("n2");
    world_.Submit(WholeNodes(world_, 2));
    world_.Schedule();
  }
  testing::World world_;
};

TEST_F(BackfillReservationsTest, KeepsAnOpeningForAsManyJobsAsThePolicySays) {
  const JobId job = world_.Submit(WholeNodes(world_, 2));
  OneCycle cycle(world_);
  BackfillReservations reservations(cycle.state);
  ASSERT_TRUE(reservations.any_left());
  const Prospect prospect = reservations.Earliest(cycle.Waiting(job), cycle.OptionsOf(job));
  ASSERT_NE(prospect.option, nullptr);
  EXPECT_FALSE(prospect.is_promised);
  EXPECT_EQ(reservations.Keep(cycle.Waiting(job), prospect), prospect.opening.start);
  EXPECT_FALSE(reservations.any_left());
  EXPECT_EQ(reservations.kept(), 1U);
  const Plan plan = cycle.Finish();
  ASSERT_EQ(plan.reservations.size(), 1U);
  EXPECT_EQ(plan.reservations[0].job, job);
  EXPECT_EQ(plan.reservations[0].nodes.size(), 2U);
}

TEST_F(BackfillReservationsTest, WhatIsKeptIsNotThereForTheNext) {
  world_.config.backfill = Backfill::kConservative;
  const JobId job = world_.Submit(WholeNodes(world_, 2));
  OneCycle cycle(world_);
  BackfillReservations reservations(cycle.state);
  const OptionList options = cycle.OptionsOf(job);
  const Time first =
      reservations.Keep(cycle.Waiting(job), reservations.Earliest(cycle.Waiting(job), options));
  const Time second = reservations.Earliest(cycle.Waiting(job), options).opening.start;
  EXPECT_EQ(second, first + std::chrono::minutes(1));
}

TEST_F(BackfillReservationsTest, NothingIsKeptForAJobWithoutAProspect) {
  const JobId job = world_.Submit(WholeNodes(world_, 2));
  OneCycle cycle(world_);
  BackfillReservations reservations(cycle.state);
  EXPECT_EQ(reservations.Keep(cycle.Waiting(job), Prospect()), kNoTime);
  EXPECT_TRUE(reservations.any_left());
  EXPECT_EQ(reservations.kept(), 0U);
}

TEST_F(BackfillReservationsTest, AnOpeningThatWasPromisedIsKeptTo) {
  const JobId job = world_.Submit(WholeNodes(world_, 1));
  const Plan last = world_.MakePlanNow();
  ASSERT_EQ(last.reservations.size(), 1U);
  const std::shared_ptr<const Snapshot> snapshot =
      BuildSnapshot(world_.state, world_.now + std::chrono::seconds(1), &last);
  StartOptions options(*snapshot);
  Availability availability(*snapshot);
  CycleState state(*snapshot, world_.config, options, availability);
  const BackfillReservations reservations(state);
  const WaitingJob& waiting = snapshot->waiting.front();
  ASSERT_EQ(waiting.id, job);
  const Prospect prospect = reservations.Earliest(waiting, OptionsOf(state, waiting, {}));
  EXPECT_TRUE(prospect.is_promised);
  EXPECT_EQ(prospect.opening.start, last.reservations[0].start);
  EXPECT_EQ(reservations.FirstPromised(JobId(1), JobId(100)), job);
  EXPECT_EQ(reservations.FirstPromised(job.Next(), JobId(100)), JobId(100));
}

}  // namespace
}  // namespace muster::core
