#include "scheduler/core/plan/waiting_list.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <vector>

#include "tests/unit/scheduler/core/builders.h"

namespace muster::core {
namespace {

using testing::Tasks;
using testing::World;

// The id, how many elements, and whether it is held, of each entry.
using Entry = std::tuple<std::uint64_t, std::uint32_t, bool>;

std::vector<Entry> EntriesOf(const std::vector<WaitingJob>& waiting) {
  std::vector<Entry> entries;
  for (const WaitingJob& job : waiting) {
    entries.emplace_back(job.id.value(), job.count, job.held);
  }
  return entries;
}

TouchedJobs TouchedIn(const World& world) {
  TouchedJobs touched;
  for (std::size_t i = 0; i < world.events.size(); ++i) {
    touched.Note(world.events[i], Version(i + 1));
  }
  return touched;
}

JobId SubmitArray(World& world) {
  JobSpec spec = world.Spec(Tasks(1));
  spec.array = ArraySpec{{{0, 4, 1}}, 0};
  return world.Submit(spec);
}

void Hold(World& world, JobId job) {
  HoldJob hold;
  hold.job = job;
  hold.by = world.ada;
  ASSERT_TRUE(world.Take(hold).status.ok());
}

TEST(WaitingList, HasTheJobsThatWaitInTheOrderOfTheQueue) {
  World world;
  world.AddNode("n1");
  const JobId runs = world.Submit(Tasks(4));
  const JobId first = world.Submit(Tasks(4));
  const JobId second = world.Submit(Tasks(4));
  world.Schedule();
  ASSERT_NE(world.StateOf(runs), JobState::kPending);
  EXPECT_EQ(EntriesOf(WaitingOf(world.state, world.now)),
            (std::vector<Entry>{{first.value(), 1, false}, {second.value(), 1, false}}));
}

TEST(WaitingList, UntouchedElementsOfAnArrayStandInOneEntry) {
  World world;
  const JobId array = SubmitArray(world);
  EXPECT_EQ(EntriesOf(WaitingOf(world.state, world.now)),
            (std::vector<Entry>{{array.value(), 5, false}}));
}

TEST(WaitingList, BroughtUpToDateItIsAsIfMadeAnew) {
  World world;
  world.AddNode("n1");
  const JobId first = world.Submit(Tasks(4));
  const JobId second = world.Submit(Tasks(4));
  SubmitArray(world);
  std::vector<WaitingJob> waiting = WaitingOf(world.state, world.now);
  const Version since = world.state.version();

  world.Schedule();
  ASSERT_NE(world.StateOf(first), JobState::kPending);
  Hold(world, second);
  const JobId last = world.Submit(Tasks(2));
  ASSERT_EQ(world.state.version(), Version(world.events.size()));
  ASSERT_TRUE(UpdateWaiting(world.state, TouchedIn(world), since, world.now, waiting));
  EXPECT_EQ(EntriesOf(waiting), EntriesOf(WaitingOf(world.state, world.now)));
  ASSERT_EQ(waiting.size(), 3U) << "one started, and one came";
  bool has_last = false;
  for (const WaitingJob& job : waiting) {
    has_last = has_last || job.id == last;
    EXPECT_EQ(job.held, job.id == second);
  }
  EXPECT_TRUE(has_last);
}

TEST(WaitingList, ItIsToBeMadeAnewWhenWhatWasTouchedIsNotKnown) {
  World world;
  std::vector<WaitingJob> waiting = WaitingOf(world.state, world.now);
  const Version since = world.state.version();
  world.Submit(Tasks(1));
  EXPECT_FALSE(UpdateWaiting(world.state, TouchedJobs(), since, world.now, waiting));
}

}  // namespace
}  // namespace muster::core
