#include "scheduler/core/plan/queue/queue_blockers.h"

#include <gtest/gtest.h>

namespace muster::core {
namespace {

TEST(QueueBlockers, ALaterJobIsBehindTheFirstAndCountsAllBeforeIt) {
  QueueBlockers blockers(true);
  EXPECT_FALSE(blockers.WhyLater("gpu").has_value());
  blockers.BeginJob();
  blockers.Block("gpu", JobId(3));
  blockers.BeginJob();
  blockers.Block("gpu", JobId(5));
  const std::optional<Reason> why = blockers.WhyLater("gpu");
  ASSERT_TRUE(why.has_value());
  EXPECT_EQ(why->kind, ReasonKind::kPriority);
  EXPECT_EQ(why->behind, JobId(3));
  EXPECT_EQ(why->ahead, 2U);
  EXPECT_FALSE(blockers.WhyLater("cpu").has_value());
}

TEST(QueueBlockers, AJobCountsOnceInEachOfItsPartitions) {
  QueueBlockers blockers(true);
  blockers.BeginJob();
  blockers.Block("gpu", JobId(3));
  blockers.Block("cpu", JobId(3));
  blockers.Block("gpu", JobId(3));
  EXPECT_EQ(blockers.WhyLater("gpu")->ahead, 1U);
  EXPECT_EQ(blockers.WhyLater("cpu")->ahead, 1U);
}

TEST(QueueBlockers, ElementsThatWaitAlikeCountEachWhereTheLastOneDid) {
  QueueBlockers blockers(true);
  blockers.BeginJob();
  blockers.Block("cpu", JobId(2));
  blockers.BeginJob();
  blockers.Block("gpu", JobId(3));
  blockers.AddAlike(10);
  EXPECT_EQ(blockers.WhyLater("gpu")->ahead, 11U);
  EXPECT_EQ(blockers.WhyLater("cpu")->ahead, 1U);
}

TEST(QueueBlockers, APartitionIsHeldOnlyWhereNoJobMayOvertake) {
  for (const bool may_overtake : {false, true}) {
    QueueBlockers blockers(may_overtake);
    EXPECT_FALSE(blockers.Holds("gpu"));
    blockers.BeginJob();
    blockers.Block("gpu", JobId(3));
    EXPECT_EQ(blockers.Holds("gpu"), !may_overtake);
    EXPECT_FALSE(blockers.Holds("cpu"));
  }
}

}  // namespace
}  // namespace muster::core
