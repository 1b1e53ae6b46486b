// Backfilling: who may overtake whom, checked on small clusters that run their jobs to the end.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "scheduler/core/plan/planner.h"
#include "tests/unit/scheduler/core/builders.h"
#include "tests/unit/scheduler/core/playing.h"

namespace muster::core {
namespace {

using testing::After;
using testing::MakeNode;
using testing::Normal;
using testing::Playing;
using testing::Tasks;

ResourceRequest Nodes(std::uint32_t nodes) {
  ResourceRequest request = Tasks(nodes, 4);
  request.min_nodes = nodes;
  return request;
}

TEST(Backfill, AShortJobFillsTheHoleInFrontOfAReservation) {
  Playing run({{.cores = 4}, {.cores = 4}});
  run.Submit(Nodes(1), 100);
  run.Submit(Nodes(2), 50);
  run.Submit(Nodes(1), 100);
  run.Submit(Nodes(1), 101);
  run.RunCycle();
  EXPECT_EQ(run.Of(2).promised, After(100));
  EXPECT_EQ(run.Of(3).started, After(0));
  run.RunDry();
  EXPECT_EQ(run.Of(2).started, After(100));
  EXPECT_EQ(run.Of(4).started, After(150));
}

TEST(Backfill, AJobOneSecondTooLongWaits) {
  Playing run({{.cores = 4}, {.cores = 4}});
  run.Submit(Nodes(1), 100);
  run.Submit(Nodes(2), 50);
  run.Submit(Nodes(1), 101);
  run.RunCycle();
  EXPECT_EQ(run.Of(3).started, kNoTime);
}

TEST(Backfill, ALongJobMayUseWhatTheReservationLeaves) {
  Playing run({{.cores = 4}, {.cores = 8}});
  run.Submit(Tasks(1, 4), 100);  // takes node 1
  run.Submit(Tasks(1, 2), 100);
  run.Submit(Tasks(1, 8), 10);  // node 2, once job 2 has ended
  run.Submit(Tasks(1, 4), 5000);
  run.RunCycle();
  EXPECT_EQ(run.Of(3).promised, After(100));
  EXPECT_EQ(run.Of(4).started, kNoTime) << "it would hold up job 3 on node 2";
  run.RunDry();
  EXPECT_EQ(run.Of(4).started, After(100));
}

TEST(Backfill, NobodyOvertakesWithoutIt) {
  Playing run({{.cores = 4}, {.cores = 4}});
  run.config.backfill = Backfill::kNone;
  run.Submit(Nodes(1), 100);
  run.Submit(Nodes(2), 50);
  run.Submit(Nodes(1), 1);
  run.RunDry();
  EXPECT_EQ(run.Of(2).started, After(100));
  EXPECT_EQ(run.Of(3).started, After(150));
}

TEST(Backfill, WithoutALimitAJobNeverDelaysTheReservedOne) {
  Playing run({{.cores = 4}, {.cores = 4}});
  run.Submit(Nodes(1), 0);
  run.Submit(Nodes(2), 0);
  run.Submit(Nodes(1), 0);
  run.Submit(Nodes(1), 60);
  run.RunCycle();
  EXPECT_EQ(run.Of(3).started, kNoTime) << "it might never give the node back";
  EXPECT_EQ(run.Of(4).started, After(0)) << "this one does";
}

TEST(Backfill, GpusCountInReservations) {
  ResourceRequest both = Tasks(2);
  both.gpus_per_task.count = 1;
  ResourceRequest one = Tasks(1);
  one.gpus_per_task.count = 1;
  Playing run({{.cores = 8, .gpus = 2}});
  run.Submit(one, 100);
  run.Submit(both, 10);
  run.Submit(one, 100);
  run.Submit(one, 101);
  run.Submit(Tasks(1), 5000);
  run.RunDry();
  EXPECT_EQ(run.Of(2).started, After(100));
  EXPECT_EQ(run.Of(3).started, After(0));
  EXPECT_EQ(run.Of(4).started, After(110));
  EXPECT_EQ(run.Of(5).started, After(0));
}

// A random cluster with a random queue that all arrives at once.
Playing RandomRun() {
  const auto nodes = *rc::gen::inRange<std::size_t>(1, 5);
  std::vector<testing::Shape> shapes;
  for (std::size_t i = 0; i < nodes; ++i) {
    shapes.push_back({.cores = *rc::gen::inRange(1U, 5U), .gpus = *rc::gen::inRange(0U, 3U)});
  }
  Playing run(shapes);
  const auto jobs = *rc::gen::inRange(1, 12);
  for (int i = 0; i < jobs; ++i) {
    ResourceRequest request = Tasks(*rc::gen::inRange(1U, 5U), *rc::gen::inRange(1U, 3U));
    if (*rc::gen::inRange(0, 3) == 0) {
      request.gpus_per_task.count = 1;
    }
    if (*rc::gen::inRange(0, 3) == 0) {
      request.min_nodes = request.tasks;
    }
    run.Submit(request, *rc::gen::inRange(1, 30));
  }
  return run;
}

RC_GTEST_PROP(BackfillProperty, ConservativeKeepsEveryPromiseGivenTrueRunTimes, ()) {
  Playing run = RandomRun();
  run.config.backfill = Backfill::kConservative;
  run.RunDry();
  for (const auto& [job, record] : run.records()) {
    if (record.promised != kNoTime) {
      RC_ASSERT(record.started != kNoTime);
      RC_ASSERT(record.started <= record.promised);
    }
  }
}

RC_GTEST_PROP(BackfillProperty, EasyKeepsThePromiseToTheHeadGivenTrueRunTimes, ()) {
  Playing run = RandomRun();
  run.config.backfill = Backfill::kEasy;
  run.RunDry();
  for (const auto& [job, record] : run.records()) {
    RC_ASSERT(record.promised == kNoTime || record.started <= record.promised);
  }
}

RC_GTEST_PROP(BackfillProperty, EveryJobThatFitsTheEmptyClusterStartsInTheEnd, ()) {
  Playing run = RandomRun();
  run.config.backfill = *rc::gen::element(Backfill::kNone, Backfill::kEasy, Backfill::kConservative,
                                          Backfill::kHybrid);
  run.config.reservations = *rc::gen::inRange(0U, 4U);
  run.RunDry();
  for (const LeftWaiting& left : run.plan().waiting) {
    RC_ASSERT(left.reason.kind == ReasonKind::kBadConstraints);
  }
}

// What a backfilled job takes away from nobody: with the same queue and no backfilling the head of
// the queue does not start earlier.
RC_GTEST_PROP(BackfillProperty, TheFirstBlockedJobStartsNoLaterThanWithoutBackfilling, ()) {
  Playing run = RandomRun();
  Playing in_order = run;
  in_order.config.backfill = Backfill::kNone;
  run.config.backfill = *rc::gen::element(Backfill::kEasy, Backfill::kConservative);
  run.RunCycle();
  std::optional<JobId> head;
  for (const LeftWaiting& left : run.plan().waiting) {
    if (!head.has_value() && left.reason.kind == ReasonKind::kResources) {
      head = left.job;
    }
  }
  if (!head.has_value()) {
    return;
  }
  run.RunDry();
  in_order.RunDry();
  RC_ASSERT(run.Of(head->value()).started <= in_order.Of(head->value()).started);
}

}  // namespace
}  // namespace muster::core
