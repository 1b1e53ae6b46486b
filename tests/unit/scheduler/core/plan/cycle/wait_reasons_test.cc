#include "scheduler/core/plan/cycle/wait_reasons.h"

#include <gtest/gtest.h>

#include "tests/unit/scheduler/core/plan/cycle/one_cycle.h"

namespace muster::core {
namespace {

using testing::OneCycle;
using testing::WholeNodes;

class WaitReasonsTest : public ::testing::Test {
 protected:
  WaitReasonsTest() {
    world_.AddNode("n1");
    world_.AddNode("n2");
  }
  void FillOneNode() {
    world_.Submit(WholeNodes(world_, 1));
    world_.Schedule();
  }
  testing::World world_;
};

TEST_F(WaitReasonsTest, TheFirstJobWaitsForNodesAndALaterOneForTheFirst) {
  FillOneNode();
  const JobId job = world_.Submit(WholeNodes(world_, 2));
  OneCycle cycle(world_);
  WaitReasons reasons(cycle.state);
  const StartOption& option = cycle.OptionOf(job);
  EXPECT_EQ(reasons.WhyBlocked(cycle.Waiting(job), option).kind, ReasonKind::kResources);
  reasons.blockers().BeginJob();
  reasons.blockers().Block(option.partition, JobId(77));
  const Reason later = reasons.WhyBlocked(cycle.Waiting(job), option);
  EXPECT_EQ(later.kind, ReasonKind::kPriority);
  EXPECT_EQ(later.behind, JobId(77));
}

TEST_F(WaitReasonsTest, WithoutBackfillingNoJobIsTriedBehindABlocker) {
  const JobId job = world_.Submit(WholeNodes(world_, 1));
  for (const Backfill backfill : {Backfill::kNone, Backfill::kEasy}) {
    world_.config.backfill = backfill;
    OneCycle cycle(world_);
    WaitReasons reasons(cycle.state);
    const StartOption& option = cycle.OptionOf(job);
    EXPECT_TRUE(reasons.MayTry(option));
    reasons.blockers().Block(option.partition, JobId(77));
    EXPECT_EQ(reasons.MayTry(option), backfill == Backfill::kEasy);
  }
}

TEST_F(WaitReasonsTest, AComponentThatCouldStartAloneHasNoReasonOfItsOwn) {
  FillOneNode();
  const JobId small = world_.Submit(WholeNodes(world_, 1));
  const JobId large = world_.Submit(WholeNodes(world_, 2));
  OneCycle cycle(world_);
  WaitReasons reasons(cycle.state);
  EXPECT_FALSE(reasons.WhyNotAlone(cycle.Waiting(small), cycle.OptionsOf(small)).has_value());
  EXPECT_TRUE(reasons.WhyNotAlone(cycle.Waiting(large), cycle.OptionsOf(large)).has_value());
}

}  // namespace
}  // namespace muster::core
