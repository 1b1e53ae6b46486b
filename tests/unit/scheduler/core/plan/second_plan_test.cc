#include "scheduler/core/plan/second_plan.h"

#include <gtest/gtest.h>

#include "tests/unit/scheduler/core/builders.h"

namespace muster::core {
namespace {

using testing::Tasks;

TEST(SecondPlan, ItsJobsAreThoseThatStartAndTheFirstThatAreLeft) {
  testing::World world;
  world.AddNode("n1");
  std::vector<JobId> jobs;
  for (int i = 0; i < 4; ++i) {
    jobs.push_back(world.Submit(Tasks(4)));
  }
  const Plan plan = world.MakePlanNow();
  ASSERT_EQ(plan.starts.size(), 1U);
  const std::shared_ptr<const Snapshot> snapshot = BuildSnapshot(world.state, world.now);
  std::vector<WaitingJob> first = FirstJobs(*snapshot, plan, 2);
  ASSERT_EQ(first.size(), 3U);
  EXPECT_EQ(first.back().id, jobs[2]);
  EXPECT_EQ(FirstJobs(*snapshot, plan, 2, {jobs[1]}).size(), 2U);
  const Snapshot other = WithOthersWaiting(*snapshot, {first.front()});
  EXPECT_EQ(other.waiting.size(), 1U);
  EXPECT_EQ(other.nodes.size(), snapshot->nodes.size());
  EXPECT_EQ(MakePlan(other, world.config).starts.size(), 1U);
}

TEST(SecondPlan, AJobThatIsHeldWaitsForNoNodes) {
  LeftWaiting left;
  left.reason.kind = ReasonKind::kResources;
  EXPECT_TRUE(WaitsForNodes(left));
  left.reason.verdict = ReasonClass::kNever;
  EXPECT_FALSE(WaitsForNodes(left));
  left.reason = Reason();
  left.reason.kind = ReasonKind::kJobHeldUser;
  EXPECT_FALSE(WaitsForNodes(left));
}

}  // namespace
}  // namespace muster::core
