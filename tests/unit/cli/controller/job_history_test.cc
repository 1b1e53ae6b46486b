#include "cli/controller/query/job_history.h"

#include <gtest/gtest.h>

namespace muster::cli {
namespace {

JobView JobOf(std::uint64_t id, const std::string& state) {
  JobView job;
  job.id = JobId(id);
  job.state = state;
  return job;
}

TEST(JobHistoryTest, AJobThatEndedBetweenTheTwoQuestionsComesOnce) {
  const std::vector<JobView> jobs = EachOnce({JobOf(1, "RUNNING"), JobOf(3, "PENDING")},
                                             {JobOf(3, "CANCELLED"), JobOf(2, "COMPLETED")});
  ASSERT_EQ(jobs.size(), 3U);
  EXPECT_EQ(jobs[0].id, JobId(1));
  EXPECT_EQ(jobs[1].state, "PENDING");
  EXPECT_EQ(jobs[2].id, JobId(2));
  EXPECT_EQ(jobs[2].state, "COMPLETED");
}

}  // namespace
}  // namespace muster::cli
