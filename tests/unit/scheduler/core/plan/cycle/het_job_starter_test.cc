#include "scheduler/core/plan/cycle/het_job_starter.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/unit/scheduler/core/plan/cycle/one_cycle.h"

namespace muster::core {
namespace {

using testing::OneCycle;
using testing::WholeNodes;

// Three nodes of four cores.
class HetJobStarterTest : public ::testing::Test {
 protected:
  HetJobStarterTest() {
    for (const char* name : {"n1", "n2", "n3"}) {
      world_.AddNode(name);
    }
  }
  // Two components, of that many nodes each.
  JobId Submit(std::uint32_t first, std::uint32_t second) {
    SubmitJob submit{"group", WholeNodes(world_, first), testing::Script()};
    submit.components.push_back(Component{WholeNodes(world_, second), Program()});
    return world_.Take(submit).job;
  }
  // What a cycle that looks at the group alone plans.
  Plan PlanOf(JobId leader) {
    OneCycle cycle(world_);
    WaitReasons reasons(cycle.state);
    JobStarter starter(cycle.state, reasons.verdicts());
    BackfillReservations reservations(cycle.state);
    KeptPlaces places(cycle.state, starter);
    HetJobStarter(cycle.state, reasons, starter, reservations, places)
        .LookAt(cycle.Waiting(leader));
    return cycle.Finish();
  }
  testing::World world_;
};

TEST_F(HetJobStarterTest, AllComponentsStartWhereTheyFitTogether) {
  const JobId leader = Submit(1, 2);
  const Plan plan = PlanOf(leader);
  ASSERT_EQ(plan.starts.size(), 2U);
  EXPECT_EQ(plan.starts[0].job, leader);
  EXPECT_EQ(plan.starts[1].job, leader.Next());
  EXPECT_TRUE(plan.waiting.empty());
}

TEST_F(HetJobStarterTest, NoneStartsWhereOneOfThemDoesNotFitAndBothHaveAPlaceKept) {
  world_.Submit(WholeNodes(world_, 1));
  world_.Schedule();
  const JobId leader = Submit(1, 2);
  const Plan plan = PlanOf(leader);
  EXPECT_TRUE(plan.starts.empty());
  ASSERT_EQ(plan.waiting.size(), 2U);
  ASSERT_EQ(plan.reservations.size(), 2U);
  EXPECT_EQ(plan.reservations[0].start, plan.reservations[1].start);
}

TEST_F(HetJobStarterTest, AHeldComponentKeepsTheOthersAndNothingIsKeptForThem) {
  const JobId leader = Submit(1, 1);
  world_.Take(HoldJob{leader, {}, true, world_.ada});
  const Plan plan = PlanOf(leader);
  EXPECT_TRUE(plan.starts.empty());
  EXPECT_TRUE(plan.reservations.empty());
  ASSERT_EQ(plan.waiting.size(), 2U);
  EXPECT_EQ(plan.waiting[0].reason.kind, ReasonKind::kJobHeldUser);
}

}  // namespace
}  // namespace muster::core
