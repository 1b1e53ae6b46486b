#include "scheduler/core/state/apply/job_index.h"

#include <gtest/gtest.h>

#include <memory>

namespace muster::core {
namespace {

Job One(JobState state) {
  Job job;
  job.id = JobId(3);
  job.submission = JobId(1);
  job.state = state;
  job.spec = std::make_shared<const JobSpec>();
  return job;
}

TEST(JobIndex, AJobIsWhereItsStateSays) {
  JobIndex index;
  index.Note(One(JobState::kPending));
  EXPECT_TRUE(index.pending().contains(JobId(3)));
  index.Note(One(JobState::kRunning));
  EXPECT_TRUE(index.pending().empty());
  index.Note(One(JobState::kSuspended));
  EXPECT_TRUE(index.suspended().contains(JobId(3)));
  index.Note(One(JobState::kCompleting));
  EXPECT_TRUE(index.suspended().empty());
}

TEST(JobIndex, AnErasedJobIsNowhere) {
  JobIndex index;
  index.Note(One(JobState::kPending));
  index.Erase(JobId(3));
  EXPECT_TRUE(index.pending().empty());
}

TEST(JobIndex, HoldersAreCountedWhereTheirArrayHasAThrottle) {
  JobIndex index;
  Job job = One(JobState::kRunning);
  JobSpec spec;
  spec.elastic = true;
  spec.array.emplace();
  spec.array->max_running = 2;
  job.spec = std::make_shared<const JobSpec>(spec);
  Job other = job;
  other.id = JobId(4);
  index.AddHolder(job);
  index.AddHolder(other);
  EXPECT_EQ(index.array_running().at(JobId(1)), 2U);
  EXPECT_EQ(index.elastic().size(), 2U);
  index.RemoveHolder(job);
  EXPECT_EQ(index.array_running().at(JobId(1)), 1U);
  index.RemoveHolder(other);
  EXPECT_TRUE(index.array_running().empty());
  EXPECT_TRUE(index.elastic().empty());
}

}  // namespace
}  // namespace muster::core
