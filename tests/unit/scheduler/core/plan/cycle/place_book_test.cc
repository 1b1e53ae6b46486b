#include "scheduler/core/plan/cycle/place_book.h"

#include <gtest/gtest.h>

#include <utility>

#include "scheduler/core/plan/cycle/wait_reasons.h"
#include "scheduler/core/plan/queue/dominant_share.h"
#include "tests/unit/scheduler/core/plan/cycle/one_cycle.h"

namespace muster::core {
namespace {

using std::chrono::minutes;
using testing::OneCycle;
using testing::WholeNodes;

// A node of four cores that is busy for a minute.
class PlaceBookTest : public ::testing::Test {
 protected:
  PlaceBookTest() {
    world_.config.prompt.slack = minutes(10);
    world_.AddNode("n1");
    world_.Submit(WholeNodes(world_, 1));
    world_.Schedule();
  }
  struct Books {
    explicit Books(const testing::World& world)
        : cycle(world),
          reasons(cycle.state),
          starter(cycle.state, reasons.verdicts()),
          book(cycle.state, starter),
          backlog(cycle.snapshot(), WholeOf(cycle.snapshot().nodes)) {}
    std::optional<JobPlace> NewFor(JobId job) {
      return book.New(cycle.Waiting(job), book.MembersOf(cycle.Waiting(job)), backlog);
    }
    OneCycle cycle;
    WaitReasons reasons;
    JobStarter starter;
    PlaceBook book;
    Backlog backlog;
  };
  testing::World world_;
};

TEST_F(PlaceBookTest, ANewPlaceIsTheEarliestAndItsPromiseHasTheSlack) {
  const JobId job = world_.Submit(WholeNodes(world_, 1));
  Books books(world_);
  const std::optional<JobPlace> place = books.NewFor(job);
  ASSERT_TRUE(place.has_value());
  EXPECT_EQ(place->start(), world_.now + minutes(1));
  EXPECT_GE(place->by, place->start() + minutes(10));
}

TEST_F(PlaceBookTest, WhatWasPutInATrialIsGoneAfterUndo) {
  const JobId first = world_.Submit(WholeNodes(world_, 1));
  const JobId second = world_.Submit(WholeNodes(world_, 1));
  Books books(world_);
  books.book.Try();
  JobPlace place = *books.NewFor(first);
  const Time start = place.start();
  books.book.Put(first, std::move(place));
  ASSERT_NE(books.book.Find(first), nullptr);
  ASSERT_GT(books.NewFor(second)->start(), start);
  books.book.Undo(true);
  EXPECT_EQ(books.book.Find(first), nullptr);
  EXPECT_EQ(books.NewFor(second)->start(), start);
}

TEST_F(PlaceBookTest, WhatWasPutStaysOnceATrialHasEnded) {
  const JobId first = world_.Submit(WholeNodes(world_, 1));
  Books books(world_);
  books.book.Try();
  books.book.Put(first, *books.NewFor(first));
  books.book.EndTrial();
  EXPECT_EQ(books.book.all().size(), 1U);
}

TEST_F(PlaceBookTest, AHeldJobIsBlockedAndAPromiseIsSaidInThePlan) {
  const JobId free = world_.Submit(WholeNodes(world_, 1));
  const JobId held = world_.Submit(WholeNodes(world_, 1));
  world_.Take(HoldJob{held, {}, true, world_.ada});
  Books books(world_);
  EXPECT_TRUE(books.book.IsBlocked(books.cycle.Waiting(held)));
  EXPECT_FALSE(books.book.IsBlocked(books.cycle.Waiting(free)));
  const std::optional<JobPlace> place = books.NewFor(free);
  EXPECT_FALSE(books.book.LimitStops(books.cycle.Waiting(free), *place));
  books.book.Promise(*place);
  const Plan plan = books.cycle.Finish();
  ASSERT_EQ(plan.promises.size(), 1U);
  EXPECT_EQ(plan.promises[0].job, free);
  EXPECT_EQ(plan.promises[0].by, place->by);
}

}  // namespace
}  // namespace muster::core
