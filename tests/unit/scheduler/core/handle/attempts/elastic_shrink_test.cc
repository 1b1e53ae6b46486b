// Elastic jobs that give nodes to jobs that wait, played through the live handlers and cycles.
#include <gtest/gtest.h>

#include "tests/unit/scheduler/core/elastic_cluster.h"

namespace muster::core {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

using Cluster = testing::ElasticCluster;

// A cluster of `nodes` nodes, all of which one elastic job has, of at least `least`.
struct Filled {
  Cluster cluster;
  JobId elastic;
  Filled(std::uint32_t nodes, std::uint32_t least, bool shrink = true) {
    cluster.world.config.elastic.shrink = shrink;
    for (std::uint32_t i = 0; i < nodes; ++i) {
      cluster.AddNode();
    }
    elastic = cluster.Submit(least, nodes, hours(10));
    cluster.Play(minutes(1));
    EXPECT_EQ(cluster.NodesOf(elastic), nodes);
  }
};

TEST(ElasticShrink, AJobThatWouldWaitForHoursGetsWhatTheElasticOneHasToSpare) {
  Filled filled(8, 2);
  Cluster& cluster = filled.cluster;
  const JobId job = cluster.SubmitPlain(3, hours(1));
  cluster.Play(seconds(20));
  EXPECT_EQ(cluster.RestartsOf(filled.elastic), 0U) << "others may come before the last call";
  cluster.Play(seconds(20));
  EXPECT_TRUE(cluster.Runs(job));
  EXPECT_EQ(cluster.NodesOf(filled.elastic), 5U) << "no more than the job needs";
  EXPECT_EQ(cluster.RestartsOf(filled.elastic), 1U);
  EXPECT_EQ(cluster.world.state.FindJob(filled.elastic)->requeues, 0U);
  EXPECT_TRUE(cluster.NeverOverlapped());
}

TEST(ElasticShrink, ItGrowsAgainOnceTheOtherHasEnded) {
  Filled filled(8, 2);
  Cluster& cluster = filled.cluster;
  const JobId job = cluster.SubmitPlain(3, hours(1));
  cluster.Play(minutes(1));
  ASSERT_TRUE(cluster.Runs(job));
  cluster.Play(minutes(30));
  EXPECT_EQ(cluster.NodesOf(filled.elastic), 5U);
  cluster.Finish(job);
  cluster.Play(minutes(1));
  EXPECT_EQ(cluster.NodesOf(filled.elastic), 8U);
  EXPECT_EQ(cluster.RestartsOf(filled.elastic), 2U);
}

TEST(ElasticShrink, NobodyGetsMoreThanItHasBeyondItsLeast) {
  Filled filled(8, 6);
  Cluster& cluster = filled.cluster;
  const JobId large = cluster.SubmitPlain(3, hours(1));
  const JobId small = cluster.SubmitPlain(2, minutes(30));
  cluster.Play(minutes(2));
  EXPECT_FALSE(cluster.Runs(large));
  EXPECT_TRUE(cluster.Runs(small)) << "it ends before the large one could start";
  EXPECT_EQ(cluster.NodesOf(filled.elastic), 6U);
}

TEST(ElasticShrink, FreeNodesAreTakenFirst) {
  Filled filled(6, 2);
  Cluster& cluster = filled.cluster;
  const JobId first = cluster.SubmitPlain(2, hours(1));
  cluster.Play(minutes(1));
  ASSERT_TRUE(cluster.Runs(first));
  cluster.Finish(first);
  const JobId second = cluster.SubmitPlain(3, hours(1));
  cluster.Play(minutes(30));
  EXPECT_TRUE(cluster.Runs(second));
  EXPECT_EQ(cluster.NodesOf(filled.elastic), 3U);
}

TEST(ElasticShrink, AJobThatStartsSoonAnywayCostsNoChange) {
  Filled filled(4, 2);
  Cluster& cluster = filled.cluster;
  cluster.AddNode();
  const JobId running = cluster.SubmitPlain(1, minutes(2));
  cluster.Play(seconds(1));
  ASSERT_TRUE(cluster.Runs(running));
  const JobId job = cluster.SubmitPlain(1, hours(1));
  cluster.Play(minutes(1));
  EXPECT_FALSE(cluster.Runs(job)) << "a change costs two minutes";
  EXPECT_EQ(cluster.RestartsOf(filled.elastic), 0U);
  cluster.Finish(running);
  cluster.Play(seconds(1));
  EXPECT_TRUE(cluster.Runs(job));
}

TEST(ElasticShrink, ChangesAreAsFarApartAsWhenItGrows) {
  Filled filled(8, 2);
  Cluster& cluster = filled.cluster;
  for (int i = 0; i < 6; ++i) {
    cluster.SubmitPlain(1, hours(5));
    cluster.Play(minutes(2));
  }
  EXPECT_EQ(cluster.RestartsOf(filled.elastic), 1U);
  cluster.Play(hours(1));
  EXPECT_LE(cluster.RestartsOf(filled.elastic), 5U) << "one in ten times what it costs";
  EXPECT_TRUE(cluster.NeverOverlapped());
}

TEST(ElasticShrink, WhereItIsSwitchedOffJobsWait) {
  Filled filled(4, 1, false);
  Cluster& cluster = filled.cluster;
  const JobId job = cluster.SubmitPlain(1, hours(1));
  cluster.Play(hours(1));
  EXPECT_FALSE(cluster.Runs(job));
  EXPECT_EQ(cluster.RestartsOf(filled.elastic), 0U);
}

TEST(ElasticShrink, AJobThatEndsAsItShrinksHasEnded) {
  Filled filled(4, 1);
  Cluster& cluster = filled.cluster;
  const JobId job = cluster.SubmitPlain(2, hours(1));
  cluster.Play(seconds(29));
  cluster.Finish(filled.elastic);
  cluster.Play(seconds(5));
  EXPECT_EQ(cluster.world.state.FindJob(filled.elastic), nullptr);
  EXPECT_TRUE(cluster.Runs(job));
}

}  // namespace
}  // namespace muster::core
