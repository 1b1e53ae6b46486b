// Orders that do not fit, or cannot be delivered (attack F1): the job is held, and others go on.
#include "scheduler/core/place/order_size.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "scheduler/model/job/order_limits.h"
#include "scheduler/model/value/wire_size.h"
#include "tests/unit/scheduler/core/builders.h"

namespace muster::core {
namespace {

using ::testing::HasSubstr;
using testing::Only;
using testing::Shape;
using testing::Tasks;
using testing::World;

// `count` ranks on the node, each on the same two threads.
NodeAllocation Ranks(NodeId node, std::uint32_t first, std::uint32_t count) {
  NodeAllocation part;
  part.node = node;
  part.name = "n";
  part.cpus = testing::Cpus("0-1");
  for (std::uint32_t i = 0; i < count; ++i) {
    part.ranks.push_back(RankPlacement{first + i, part.cpus, NumaSet::Of({0}), {}, 0, false});
  }
  return part;
}

class OrderSizeTest : public ::testing::Test {
 protected:
  OrderSizeTest() : node_(world_.AddNode("n1")) {}

  // A plan that starts the job so.
  Transition Start(JobId job, Allocation allocation) {
    Plan plan = world_.MakePlanNow();
    plan.starts = {PlannedStart{job, std::move(allocation), "", 0, 0}};
    return world_.Take(TakePlan{plan});
  }
  Reason ReasonOf(JobId job) const { return world_.ReasonFor(job); }

  World world_;
  NodeId node_;
};

TEST_F(OrderSizeTest, AStartWhoseOrderNoAgentTakesIsHeldWithTheReason) {
  const JobId large = world_.Submit(Tasks(1));
  const JobId other = world_.Submit(Tasks(1));
  const Transition transition = Start(large, Allocation{{Ranks(node_, 0, kRanksPerNodeMax + 1)}});
  EXPECT_TRUE(Only<Launch>(transition).empty());
  EXPECT_FALSE(world_.state.FindJob(large)->attempt.has_value());
  EXPECT_TRUE(world_.state.FindJob(large)->held);
  EXPECT_EQ(ReasonOf(large).kind, ReasonKind::kJobLaunchFailure);
  EXPECT_EQ(std::string(Name(ReasonOf(large).kind)), "JobLaunchFailure");
  EXPECT_THAT(ToSentence(ReasonOf(large)),
              HasSubstr("more tasks than an order to a node can hold"));
  world_.Schedule();
  EXPECT_TRUE(world_.state.FindJob(other)->attempt.has_value());
  EXPECT_TRUE(world_.Take(HoldJob{large, std::nullopt, false, world_.ada}).status.ok());
  EXPECT_FALSE(world_.state.FindJob(large)->held);
}

TEST_F(OrderSizeTest, RanksOverManyNodesCountTogether) {
  Allocation allocation;
  for (std::uint32_t i = 0; i < 20; ++i) {
    allocation.nodes.push_back(Ranks(world_.AddNode("m" + std::to_string(i)), i * 50'000, 50'000));
  }
  const JobId job = world_.Submit(Tasks(1));
  const PlannedStart all{job, allocation, "", 0, 0};
  EXPECT_GT(WireBytes(allocation), kPlacementBytesMax);
  EXPECT_FALSE(OrdersFit(world_.state.jobs(), {&all, 1}));
  allocation.nodes.resize(8);
  const PlannedStart some{job, allocation, "", 0, 0};
  EXPECT_TRUE(OrdersFit(world_.state.jobs(), {&some, 1}));
  EXPECT_TRUE(CheckStepPlacement(allocation).ok());
  EXPECT_THAT(
      std::string(CheckStepPlacement(all.allocation).message()),
      HasSubstr("more tasks than an order to one node can hold (10 MiB, 65536 tasks on one node)"));
}

TEST_F(OrderSizeTest, ABatchJobWhoseOrderCannotBeDeliveredWaitsHeld) {
  const JobId poison = world_.Submit(Tasks(4));
  const JobId other = world_.Submit(Tasks(4));
  world_.Schedule();
  ASSERT_TRUE(world_.state.FindJob(poison)->attempt.has_value());
  const Transition transition =
      world_.Take(FailLaunch{poison, AttemptNumber(1), "its order broke the link"});
  ASSERT_EQ(Only<Terminate>(transition).size(), 1U);
  EXPECT_TRUE(Only<Launch>(transition).empty());
  EXPECT_EQ(world_.StateOf(poison), JobState::kCompleting);
  world_.TellEnded(node_, poison, 1, EndCause::kNeverStarted);
  EXPECT_EQ(world_.StateOf(poison), JobState::kPending);
  EXPECT_EQ(ReasonOf(poison).kind, ReasonKind::kJobLaunchFailure);
  EXPECT_THAT(ToSentence(ReasonOf(poison)), HasSubstr("could not be delivered"));
  world_.Schedule();
  EXPECT_EQ(world_.StateOf(other), JobState::kConfiguring);
  EXPECT_EQ(world_.StateOf(poison), JobState::kPending);
}

TEST_F(OrderSizeTest, AnAgentThatComesBackIsNotSentTheOrderAgain) {
  const JobId poison = world_.Submit(Tasks(1));
  world_.Schedule();
  world_.Take(FailLaunch{poison, AttemptNumber(1), "its order broke the link"});
  RegisterAgent back;
  back.registration = World::RegistrationOf("n1", Shape());
  const Transition transition = world_.Take(back);
  EXPECT_TRUE(Only<Launch>(transition).empty());
  EXPECT_EQ(Only<Terminate>(transition).size(), 1U);
}

TEST_F(OrderSizeTest, AJobThatMayNotRunAgainFailsInstead) {
  JobSpec spec = world_.Spec(Tasks(1));
  spec.requeue = Choice::kNo;
  const JobId job = world_.Submit(spec);
  world_.Schedule();
  world_.Take(FailLaunch{job, AttemptNumber(1), "its order broke the link"});
  world_.TellEnded(node_, job, 1, EndCause::kNeverStarted);
  ASSERT_TRUE(world_.EndOf(job).has_value());
  EXPECT_EQ(world_.EndOf(job)->state, JobState::kFailed);
  EXPECT_EQ(world_.EndOf(job)->status.code, 1);
  EXPECT_EQ(world_.EndOf(job)->text, "its order broke the link");
}

TEST_F(OrderSizeTest, ACancellationWinsOverAFailedOrder) {
  const JobId job = world_.Submit(Tasks(1));
  world_.Schedule();
  world_.Take(FailLaunch{job, AttemptNumber(1), "its order broke the link"});
  EXPECT_TRUE(world_.Take(CancelJob{job, std::nullopt, world_.ada}).status.ok());
  world_.TellEnded(node_, job, 1, EndCause::kNeverStarted);
  EXPECT_EQ(world_.EndOf(job)->state, JobState::kCancelled);
}

TEST_F(OrderSizeTest, AFailureOfAnotherAttemptChangesNothing) {
  const JobId job = world_.Submit(Tasks(1));
  EXPECT_TRUE(world_.Take(FailLaunch{job, AttemptNumber(1), "late"}).effects.empty());
  world_.Schedule();
  EXPECT_TRUE(world_.Take(FailLaunch{job, AttemptNumber(2), "early"}).effects.empty());
  EXPECT_TRUE(world_.Take(FailLaunch{JobId(99), AttemptNumber(1), "?"}).effects.empty());
  EXPECT_EQ(world_.StateOf(job), JobState::kConfiguring);
}

}  // namespace
}  // namespace muster::core
