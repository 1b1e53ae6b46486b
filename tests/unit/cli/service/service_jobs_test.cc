#include "cli/service/service_jobs.h"

#include <gtest/gtest.h>

namespace muster::cli {
namespace {

JobView RunningReplica() {
  JobView job;
  job.id = JobId(14);
  job.label = "12_2";
  job.state = "RUNNING";
  job.comment = ReplicaComment("web");
  job.restarts = 1;
  return job;
}

const JobNote kReady{kReplicaNote, "replica ready restarts=1 starts=1 host=h port:http=4001"};

TEST(ServiceJobsTest, AJobIsAReplicaByItsComment) {
  EXPECT_EQ(ServiceOf(ReplicaComment("web")), "web");
  EXPECT_EQ(ServiceOf("a replica of service web"), "");
  EXPECT_EQ(ServiceOf(""), "");
}

TEST(ServiceJobsTest, AReplicaIsWhatItsNoteSays) {
  const ServiceReplica replica = ReplicaOf(RunningReplica(), {{"Comment", "replica"}, kReady});
  EXPECT_TRUE(replica.ready());
  EXPECT_EQ(replica.service, "web");
  EXPECT_EQ(replica.job, (JobSelector{.job = JobId(12), .elements = {2}}));
  EXPECT_EQ(replica.note.ports, (std::vector<ServicePort>{{"http", 4001}}));
}

TEST(ServiceJobsTest, WhatAnEarlierAttemptSaidCountsForNothing) {
  JobView job = RunningReplica();
  job.restarts = 2;
  EXPECT_EQ(ReplicaOf(job, {kReady}).note, ReplicaNote());
  job.restarts = 1;
  job.state = "PENDING";
  EXPECT_FALSE(ReplicaOf(job, {kReady}).ready());
}

}  // namespace
}  // namespace muster::cli
