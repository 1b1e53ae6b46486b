#include "scheduler/core/plan/queue/waiting_jobs.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "tests/unit/scheduler/core/builders.h"

namespace muster::core {
namespace {

using testing::Shape;
using testing::Tasks;
using testing::World;

JobId SubmitArray(World& world, ResourceRequest request, std::uint32_t count,
                  std::uint32_t throttle = 0, bool held = false) {
  JobSpec spec = world.Spec(std::move(request));
  spec.array = ArraySpec{{{0, count - 1, 1}}, throttle};
  spec.held = held;
  return world.Submit(spec);
}

// The snapshot with an entry for each element.
Snapshot Apart(Snapshot snapshot) {
  std::vector<WaitingJob> waiting;
  for (const WaitingJob& entry : snapshot.waiting) {
    for (std::uint32_t i = 0; i < entry.count; ++i) {
      waiting.push_back(ElementsOf(entry, i));
    }
  }
  snapshot.waiting = std::move(waiting);
  return snapshot;
}

TEST(WaitingJobs, AMillionUntouchedElementsAreOneEntryAndOneReason) {
  World world;
  world.AddNode("n1", Shape{});
  const JobId array = SubmitArray(world, Tasks(1), 1'000'000);
  const auto snapshot = BuildSnapshot(world.state, world.now);
  ASSERT_EQ(snapshot->waiting.size(), 1U);
  EXPECT_EQ(snapshot->waiting[0].count, 1'000'000U);
  const Plan plan = MakePlan(*snapshot, world.config);
  EXPECT_EQ(plan.starts.size(), 4U);
  ASSERT_LE(plan.waiting.size(), 2U + ReservationsOf(world.config));
  const LeftWaiting& last = plan.waiting.back();
  const JobId million(array.value() + 999'999);
  ASSERT_TRUE(last.Has(million));
  EXPECT_EQ(last.ReasonOf(million).ahead, 999'999U - 4);
}

TEST(WaitingJobs, AnElementIsFoundByItsId) {
  World world;
  const JobId array = SubmitArray(world, Tasks(1), 100);
  world.Take(HoldJob{array, 50, true, world.ada});
  const auto snapshot = BuildSnapshot(world.state, world.now);
  ASSERT_EQ(snapshot->waiting.size(), 3U);
  const std::optional<WaitingJob> held = FindWaiting(*snapshot, JobId(array.value() + 50));
  ASSERT_TRUE(held.has_value());
  EXPECT_TRUE(held->held);
  const std::optional<WaitingJob> next = FindWaiting(*snapshot, JobId(array.value() + 51));
  ASSERT_TRUE(next.has_value());
  EXPECT_FALSE(next->held);
  EXPECT_EQ(next->array_index, 51U);
  EXPECT_EQ(FindWaiting(*snapshot, JobId(array.value() + 100)), std::nullopt);
}

TEST(WaitingJobs, AHeldArrayWaitsAsOne) {
  World world;
  world.AddNode("n1", Shape{});
  SubmitArray(world, Tasks(1), 5000, 0, true);
  const Plan plan = MakePlan(*BuildSnapshot(world.state, world.now), world.config);
  ASSERT_EQ(plan.waiting.size(), 1U);
  EXPECT_EQ(plan.waiting[0].count, 5000U);
  EXPECT_EQ(plan.waiting[0].reason.kind, ReasonKind::kJobHeldUser);
}

// Whatever waits among it, whatever the order and the depth of the reservations.
RC_GTEST_PROP(WaitingJobs, AnEntryPlansAsItsElementsDoOneByOne, ()) {
  World world;
  const std::uint32_t nodes = *rc::gen::inRange(1U, 4U);
  for (std::uint32_t n = 0; n < nodes; ++n) {
    world.AddNode(absl::StrCat("n", n), Shape{1, *rc::gen::inRange(1U, 6U), 1, n % 2});
  }
  world.config.backfill = *rc::gen::element(Backfill::kNone, Backfill::kEasy, Backfill::kHybrid,
                                            Backfill::kConservative);
  world.config.reservations = *rc::gen::inRange(1U, 9U);
  world.config.priority.order = *rc::gen::element(QueueRule::kPriority, QueueRule::kDrf);
  world.config.priority.weight_age = *rc::gen::inRange(0U, 2U);
  std::vector<JobId> arrays;
  const int submissions = *rc::gen::inRange(1, 6);
  for (int i = 0; i < submissions; ++i) {
    ResourceRequest request = Tasks(*rc::gen::inRange(1U, 8U));
    request.gpus.count = *rc::gen::inRange(0U, 2U);
    arrays.push_back(SubmitArray(world, request, *rc::gen::inRange(1U, 30U),
                                 *rc::gen::inRange(0U, 4U), *rc::gen::inRange(0, 5) == 0));
    world.now += std::chrono::seconds(1);
  }
  for (int round = 0; round < 3; ++round) {
    const JobId array = *rc::gen::elementOf(arrays);
    world.Take(HoldJob{array, *rc::gen::inRange(0U, 30U), round % 2 == 0, world.ada});
    const auto snapshot = BuildSnapshot(world.state, world.now);
    const Plan plan = MakePlan(*snapshot, world.config);
    RC_ASSERT(plan == MakePlan(Apart(*snapshot), world.config));
    world.Take(TakePlan{plan});
  }
}

}  // namespace
}  // namespace muster::core
