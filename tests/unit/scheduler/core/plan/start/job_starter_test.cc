#include "scheduler/core/plan/start/job_starter.h"

#include <gtest/gtest.h>

#include "tests/unit/scheduler/core/plan/cycle/one_cycle.h"

namespace muster::core {
namespace {

using testing::OneCycle;
using testing::Tasks;
using testing::WholeNodes;

class JobStarterTest : public ::testing::Test {
 protected:
  JobStarterTest() {
    world_.AddNode("n1");
    world_.AddNode("n2");
  }
  testing::World world_;
};

TEST_F(JobStarterTest, AJobThatIsStartedHoldsWhatItsAllocationSays) {
  const JobId job = world_.Submit(Tasks(3));
  OneCycle cycle(world_);
  ShapeVerdicts verdicts(cycle.state.snapshot, cycle.state.availability, cycle.state.power);
  JobStarter starter(cycle.state, verdicts);
  std::optional<Reason> limit;
  ASSERT_TRUE(starter.TryStart(cycle.Waiting(job), cycle.OptionOf(job), limit));
  EXPECT_FALSE(limit.has_value());
  EXPECT_EQ(cycle.state.availability.timeline(0).now().cores, 1U);
  const Plan plan = cycle.Finish();
  ASSERT_EQ(plan.starts.size(), 1U);
  EXPECT_EQ(plan.starts[0].job, job);
  ASSERT_EQ(plan.starts[0].allocation.nodes.size(), 1U);
  EXPECT_EQ(plan.starts[0].allocation.nodes[0].cpus, cycle.state.nodes.At(0).taken.cpus);
}

TEST_F(JobStarterTest, JobsShareNoCoreAndTheOneWithoutAPlaceRulesItsShapeOut) {
  const JobId first = world_.Submit(WholeNodes(world_, 1));
  const JobId second = world_.Submit(WholeNodes(world_, 2));
  OneCycle cycle(world_);
  ShapeVerdicts verdicts(cycle.state.snapshot, cycle.state.availability, cycle.state.power);
  JobStarter starter(cycle.state, verdicts);
  std::optional<Reason> limit;
  ASSERT_TRUE(starter.TryStart(cycle.Waiting(first), cycle.OptionOf(first), limit));
  EXPECT_FALSE(starter.TryStart(cycle.Waiting(second), cycle.OptionOf(second), limit));
  EXPECT_FALSE(verdicts.MayStart(cycle.OptionOf(second)));
  EXPECT_FALSE(limit.has_value());
  EXPECT_EQ(cycle.Finish().starts.size(), 1U);
}

TEST_F(JobStarterTest, FindingAPlaceTakesNothing) {
  const JobId job = world_.Submit(WholeNodes(world_, 2));
  OneCycle cycle(world_);
  ShapeVerdicts verdicts(cycle.state.snapshot, cycle.state.availability, cycle.state.power);
  JobStarter starter(cycle.state, verdicts);
  for (int i = 0; i < 2; ++i) {
    const std::optional<JobStarter::Found> found = starter.FindPlace(job, cycle.OptionOf(job).need);
    ASSERT_TRUE(found.has_value());
    EXPECT_EQ(found->allocation.nodes.size(), 2U);
    EXPECT_EQ(found->opening.shares.size(), 2U);
  }
  EXPECT_TRUE(cycle.Finish().starts.empty());
}

}  // namespace
}  // namespace muster::core
