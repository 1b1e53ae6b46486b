#include "cli/service/service_replica.h"

#include <gtest/gtest.h>

namespace muster::cli {
namespace {

JobView RunningReplica() {
  JobView job;
  job.id = JobId(14);
  job.label = "12_2";
  job.state = "RUNNING";
  job.comment = ReplicaComment("web", {.change = 7, .replicas = 3});
  job.restarts = 1;
  return job;
}

const JobNote kReady{kReplicaNote, "replica ready restarts=1 starts=1 host=h port:http=4001"};

TEST(ServiceReplicaTest, AJobIsAReplicaByItsComment) {
  EXPECT_EQ(ServiceOf(ReplicaComment("web", ServiceTerms())), "web");
  EXPECT_EQ(ServiceOf("replica of service web"), "web");
  EXPECT_EQ(ServiceOf("a replica of service web"), "");
  EXPECT_EQ(ServiceOf(""), "");
}

TEST(ServiceReplicaTest, AReplicaIsWhatItsNoteSays) {
  const ServiceReplica replica = ReplicaOf(RunningReplica(), {{"Comment", "replica"}, kReady});
  EXPECT_TRUE(replica.ready());
  EXPECT_EQ(replica.service, "web");
  EXPECT_EQ(replica.job, (JobSelector{.job = JobId(12), .elements = {2}}));
  EXPECT_EQ(replica.note.ports, (std::vector<ServicePort>{{"http", 4001}}));
}

TEST(ServiceReplicaTest, TheCommentSaysWhatWasAskedOfTheService) {
  const ServiceTerms terms{.change = 7, .replicas = 3, .rolling = 2};
  EXPECT_EQ(TermsIn(ReplicaComment("web", terms)), terms);
  EXPECT_FALSE(TermsIn("replica of service web").has_value());
  EXPECT_FALSE(TermsIn("of another: change=7 replicas=3").has_value());
}

TEST(ServiceReplicaTest, OfReplicasThatDifferTheLatestChangeCounts) {
  std::vector<ServiceReplica> replicas(3);
  EXPECT_EQ(TermsOf(replicas), (ServiceTerms{.replicas = 3})) << "as many as there are";
  replicas[2].job_state = "COMPLETING";
  EXPECT_EQ(TermsOf(replicas), (ServiceTerms{.replicas = 2}));
  replicas[0].terms = ServiceTerms{.change = 8, .replicas = 5};
  replicas[1].terms = ServiceTerms{.change = 7, .replicas = 4};
  EXPECT_EQ(TermsOf(replicas).replicas, 5U);
}

TEST(ServiceReplicaTest, WhoseJobEndsOrSaysSoLeaves) {
  ServiceReplica replica;
  EXPECT_FALSE(replica.leaves());
  replica.job_state = "COMPLETING";
  EXPECT_TRUE(replica.leaves());
  replica.job_state = "RUNNING";
  replica.note.state = kReplicaLeaving;
  EXPECT_TRUE(replica.leaves());
}

TEST(ServiceReplicaTest, WhoIsOutOfReachIsNotReady) {
  ServiceReplica replica;
  replica.note.state = kReplicaReady;
  EXPECT_TRUE(replica.ready());
  replica.lost = true;
  EXPECT_FALSE(replica.ready());
}

TEST(ServiceReplicaTest, WhatAnEarlierAttemptSaidCountsForNothing) {
  JobView job = RunningReplica();
  job.restarts = 2;
  EXPECT_EQ(ReplicaOf(job, {kReady}).note, ReplicaNote());
  job.restarts = 1;
  job.state = "PENDING";
  EXPECT_FALSE(ReplicaOf(job, {kReady}).ready());
}

}  // namespace
}  // namespace muster::cli
