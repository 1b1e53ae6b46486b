#include "scheduler/core/state/pending_jobs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "tests/unit/scheduler/core/builders.h"

namespace muster::core {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;
using testing::Tasks;
using testing::World;

// One that runs, one that waits, five untouched elements, one more that waits.
class PendingJobsTest : public ::testing::Test {
 protected:
  PendingJobsTest() {
    world_.AddNode("n1", {.cores = 4});
    world_.Submit(Tasks(4));
    world_.Submit(Tasks(4));
    world_.Schedule();
    JobSpec array = world_.Spec(Tasks(4));
    array.array = ArraySpec{{{0, 4, 1}}, 0};
    world_.Submit(std::move(array));
    world_.Submit(Tasks(4));
  }
  std::vector<std::pair<std::uint64_t, std::uint32_t>> Visit(std::size_t most) {
    std::vector<std::pair<std::uint64_t, std::uint32_t>> seen;
    ForEachPendingWhile(world_.state, [&](const Job& job, std::uint32_t count) {
      seen.emplace_back(job.id.value(), count);
      return seen.size() < most;
    });
    return seen;
  }
  World world_;
};

TEST_F(PendingJobsTest, EachThatWaitsIsVisitedInTheOrderOfIds) {
  EXPECT_THAT(Visit(100), ElementsAre(Pair(2, 1), Pair(3, 5), Pair(8, 1)));
}

TEST_F(PendingJobsTest, TheWalkEndsWhenItsVisitorHasEnough) {
  EXPECT_THAT(Visit(1), ElementsAre(Pair(2, 1)));
  EXPECT_THAT(Visit(2), ElementsAre(Pair(2, 1), Pair(3, 5)));
}

}  // namespace
}  // namespace muster::core
