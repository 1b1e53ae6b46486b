#include "scheduler/core/plan/start/plan_draft.h"

#include <gtest/gtest.h>

#include "tests/unit/scheduler/core/builders.h"

namespace muster::core {
namespace {

using testing::At;

WaitingJob Element(std::uint32_t offset) {
  WaitingJob job;
  job.id = JobId(10 + offset);
  job.submission = JobId(10);
  job.array_index = offset;
  return job;
}

Reason For(ReasonKind kind, std::uint32_t ahead = 0) {
  Reason reason;
  reason.kind = kind;
  reason.ahead = ahead;
  return reason;
}

TEST(PlanDraft, ElementsThatWaitForTheSameStandInOneEntry) {
  const Snapshot snapshot;
  PlanDraft draft(snapshot);
  for (std::uint32_t i = 0; i < 3; ++i) {
    draft.Leave(Element(i), For(ReasonKind::kPriority, 5 + i));
  }
  draft.LeaveAlike(4);
  const Plan plan = draft.Finish(kNoTime);
  ASSERT_EQ(plan.waiting.size(), 1U);
  EXPECT_EQ(plan.waiting[0].job, JobId(10));
  EXPECT_EQ(plan.waiting[0].count, 7U);
  EXPECT_EQ(plan.waiting[0].reason.ahead, 5U);
}

TEST(PlanDraft, AnElementThatWaitsForOtherThingsBeginsAnEntry) {
  const Snapshot snapshot;
  PlanDraft draft(snapshot);
  draft.Leave(Element(0), For(ReasonKind::kJobHeldUser));
  draft.Leave(Element(1), For(ReasonKind::kPriority));
  draft.SetPriority(7);
  draft.Leave(Element(2), For(ReasonKind::kPriority, 1));
  const Plan plan = draft.Finish(kNoTime);
  ASSERT_EQ(plan.waiting.size(), 3U);
  EXPECT_EQ(plan.waiting[2].priority, 7U);
}

TEST(PlanDraft, JobsThatAreNoElementsStandAlone) {
  const Snapshot snapshot;
  PlanDraft draft(snapshot);
  WaitingJob job = Element(0);
  job.array_index.reset();
  draft.Leave(job, For(ReasonKind::kJobHeldUser));
  job.id = JobId(11);
  draft.Leave(job, For(ReasonKind::kJobHeldUser));
  EXPECT_EQ(draft.Finish(kNoTime).waiting.size(), 2U);
}

TEST(PlanDraft, CountsWhatLaterJobsFindChanged) {
  const Snapshot snapshot;
  PlanDraft draft(snapshot);
  draft.Leave(Element(0), For(ReasonKind::kJobHeldUser));
  EXPECT_EQ(draft.changes(), 0U);
  draft.Start(PlannedStart{JobId(1), {}, "", 0, 0});
  draft.Drop(PlannedDrop{JobId(2), JobState::kCancelled, ""});
  draft.Preempt(PlannedPreemption{JobId(3), {}, {}});
  EXPECT_EQ(draft.changes(), 3U);
}

TEST(PlanDraft, ReservesNodesByTheirIds) {
  Snapshot snapshot;
  snapshot.nodes = {testing::MakeNode(4, {}), testing::MakeNode(7, {})};
  PlanDraft draft(snapshot);
  draft.Reserve(JobId(1), Opening{At(60), {NodeShare{1, 3}}});
  const Plan plan = draft.Finish(kNoTime);
  ASSERT_EQ(plan.reservations.size(), 1U);
  EXPECT_EQ(plan.reservations[0].start, At(60));
  EXPECT_EQ(plan.reservations[0].nodes, (std::vector<ReservedNode>{{NodeId(7), 3}}));
}

TEST(PlanDraft, ResizesAreInTheOrderOfJobsAndShrinkingOnesAreKnown) {
  const Snapshot snapshot;
  PlanDraft draft(snapshot);
  PlannedResize resize;
  resize.job = JobId(9);
  resize.verdict = ResizeVerdict::kShrink;
  draft.Resize(resize);
  resize.job = JobId(3);
  resize.verdict = ResizeVerdict::kGrow;
  draft.Resize(resize);
  EXPECT_TRUE(draft.Shrinks(JobId(9)));
  EXPECT_FALSE(draft.Shrinks(JobId(3)));
  const Plan plan = draft.Finish(kNoTime);
  ASSERT_EQ(plan.resizes.size(), 2U);
  EXPECT_EQ(plan.resizes[0].job, JobId(3));
}

TEST(PlanDraft, TheHashIsOverWhatIsDecided) {
  const Snapshot snapshot;
  const auto hash_with = [&snapshot](ReasonKind kind) {
    PlanDraft draft(snapshot);
    draft.Leave(Element(0), For(kind));
    return draft.Finish(At(1)).hash;
  };
  EXPECT_EQ(hash_with(ReasonKind::kJobHeldUser), hash_with(ReasonKind::kJobHeldUser));
  EXPECT_NE(hash_with(ReasonKind::kJobHeldUser), hash_with(ReasonKind::kPriority));
}

}  // namespace
}  // namespace muster::core
