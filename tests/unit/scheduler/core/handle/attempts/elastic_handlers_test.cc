// Elastic jobs played through the live handlers and cycles, second by second: nodes that come, go
// and fall silent, and what becomes of the jobs on them.
#include "scheduler/core/handle/attempts/elastic_handlers.h"

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <string>

#include "scheduler/core/share/decay.h"
#include "tests/unit/scheduler/core/elastic_cluster.h"
#include "tests/unit/scheduler/core/policy_world.h"

namespace muster::core {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;
using testing::World;

using Cluster = testing::ElasticCluster;

// A job on one of two nodes, as it is told to end so that it has both.
JobId GrowingOn(Cluster& cluster) {
  cluster.AddNode();
  const JobId job = cluster.Submit(1, 2, hours(2));
  cluster.Play(seconds(1));
  cluster.AddNode();
  for (int i = 0; i < 60 && cluster.Its(job).ending == EndCause::kNone; ++i) {
    cluster.Play(seconds(1));
  }
  return job;
}

// E1
TEST(ElasticHandlers, AJobGoesOnWithFewerNodesUntilNoneIsLeft) {
  Cluster cluster;
  std::vector<NodeId> nodes;
  for (int i = 0; i < 4; ++i) {
    nodes.push_back(cluster.AddNode());
  }
  const JobId job = cluster.Submit(1, 4, hours(10));
  cluster.Play(seconds(1));
  ASSERT_EQ(cluster.NodesOf(job), 4U);
  for (const std::size_t left : {3U, 2U, 1U}) {
    cluster.Silence(cluster.Its(job).allocation.nodes.back().node);
    cluster.Play(seconds(30));
    EXPECT_EQ(cluster.NodesOf(job), left) << "within 30 s";
    EXPECT_TRUE(cluster.Runs(job));
  }
  cluster.Silence(cluster.Its(job).allocation.nodes.back().node);
  cluster.Play(seconds(30));
  EXPECT_EQ(cluster.world.StateOf(job), JobState::kPending);
  EXPECT_EQ(cluster.RestartsOf(job), 4U);
  EXPECT_EQ(cluster.world.state.FindJob(job)->requeues, 0U) << "none counts as a requeue";
  EXPECT_FALSE(cluster.world.state.FindJob(job)->held);
  EXPECT_TRUE(cluster.NeverOverlapped());
  cluster.Return(nodes.front());
  cluster.Play(seconds(1));
  EXPECT_EQ(cluster.NodesOf(job), 1U);
}

// E2
TEST(ElasticHandlers, ThreeNodesThatComeWithinFiveSecondsCostOneRestart) {
  Cluster cluster;
  cluster.AddNode();
  const JobId job = cluster.Submit(1, 4, hours(10));
  cluster.Play(minutes(1));
  for (int i = 0; i < 3; ++i) {
    cluster.AddNode();
    cluster.Play(seconds(2));
  }
  EXPECT_EQ(cluster.RestartsOf(job), 0U) << "it waits for the last call";
  cluster.Play(hours(1));
  EXPECT_EQ(cluster.RestartsOf(job), 1U);
  EXPECT_EQ(cluster.NodesOf(job), 4U);
  EXPECT_TRUE(cluster.NeverOverlapped());
}

// E4
TEST(ElasticHandlers, ANodeThatFallsSilentForAMinuteIsFencedWhenItReturns) {
  Cluster cluster;
  for (int i = 0; i < 3; ++i) {
    cluster.AddNode();
  }
  const JobId job = cluster.Submit(1, 3, hours(10));
  cluster.Play(minutes(1));
  const AttemptNumber before = cluster.Its(job).number;
  const NodeId away = cluster.Its(job).allocation.nodes[1].node;
  cluster.Silence(away);
  cluster.Play(minutes(1));
  EXPECT_EQ(cluster.NodesOf(job), 2U);
  cluster.Return(away);
  cluster.Play(seconds(30));
  EXPECT_EQ(cluster.NodesOf(job), 2U) << "it comes back when the job grows, and not before";
  EXPECT_GT(cluster.Its(job).number, before);
  EXPECT_TRUE(cluster.world.state.FindNode(away)->quarantined.empty());
  EXPECT_TRUE(cluster.NeverOverlapped());
}

TEST(ElasticHandlers, ANodeWhoseSilenceWasNoticedLateIsFencedFromItsLastSignOfLife) {
  Cluster cluster;
  for (int i = 0; i < 3; ++i) {
    cluster.AddNode();
  }
  const JobId job = cluster.Submit(1, 3, hours(10));
  cluster.Play(minutes(1));
  const NodeId away = cluster.Its(job).allocation.nodes[1].node;
  cluster.Silence(away, seconds(20));
  cluster.Play(seconds(5));
  EXPECT_EQ(cluster.NodesOf(job), 2U) << "the survivors work 25 s after the last sign of life";
  EXPECT_TRUE(cluster.Runs(job));
  EXPECT_TRUE(cluster.NeverOverlapped());
}

TEST(ElasticHandlers, AnAgentThatStartsAgainCostsNothing) {
  Cluster cluster;
  cluster.AddNode();
  const NodeId second = cluster.AddNode();
  const JobId job = cluster.Submit(1, 2, hours(10));
  cluster.Play(minutes(1));
  cluster.Silence(second);
  cluster.Play(kElasticSilence - seconds(2));
  cluster.Return(second);
  cluster.Play(minutes(5));
  EXPECT_EQ(cluster.RestartsOf(job), 0U);
  EXPECT_EQ(cluster.NodesOf(job), 2U);
}

TEST(ElasticHandlers, AnAgentThatReturnsWhileTheJobLeavesItsNodesGoesAlong) {
  Cluster cluster;
  cluster.AddNode();
  const NodeId second = cluster.AddNode();
  const JobId job = cluster.Submit(1, 2, hours(10));
  cluster.Play(minutes(1));
  cluster.Silence(second);
  cluster.Play(kElasticSilence + seconds(1));
  cluster.Return(second);
  cluster.Play(seconds(10));
  EXPECT_EQ(cluster.RestartsOf(job), 1U);
  EXPECT_EQ(cluster.NodesOf(job), 2U);
  EXPECT_TRUE(cluster.NeverOverlapped());
}

// E5
TEST(ElasticHandlers, CapacityThatComesAndGoesEveryMinuteCostsFewChanges) {
  Cluster cluster;
  cluster.AddNode();
  const NodeId second = cluster.AddNode();
  const JobId job = cluster.Submit(1, 2, hours(20));
  cluster.Play(minutes(1));
  for (int minute = 0; minute < 60; minute += 2) {
    cluster.Silence(second);
    cluster.Play(minutes(1));
    cluster.Return(second);
    cluster.Play(minutes(1));
  }
  EXPECT_LE(cluster.RestartsOf(job), 6U);
  EXPECT_GE(cluster.RestartsOf(job), 2U) << "or it is not elastic";
  EXPECT_TRUE(cluster.NeverOverlapped());
}

// E6
TEST(ElasticHandlers, TheBillIsTheSumOfTheNodeSecondsOfAllMemberships) {
  Cluster cluster;
  cluster.world.config.priority.billing = {{"node", 1'000'000, 0}};
  cluster.world.config.priority.half_life = Duration(0);
  cluster.world.Take(BeginEpoch{});
  cluster.AddNode();
  const JobId job = cluster.Submit(1, 4, hours(10));
  cluster.Play(minutes(3));
  cluster.AddNode();
  cluster.AddNode();
  cluster.Play(minutes(40));
  ASSERT_EQ(cluster.NodesOf(job), 3U);
  cluster.Silence(cluster.Its(job).allocation.nodes.back().node);
  cluster.Play(minutes(10));
  ASSERT_EQ(cluster.NodesOf(job), 2U);
  cluster.Finish(job);
  cluster.Play(seconds(10));
  double expected = 0;
  std::map<JobId, std::pair<Time, std::size_t>> open;  // since when, on how many nodes
  for (const Event& event : cluster.world.events) {
    const auto close = [&](JobId id, Time time) {
      expected += std::chrono::duration<double>(time - open[id].first).count() *
                  static_cast<double>(open[id].second);
    };
    if (const auto* start = std::get_if<AttemptStarted>(&event)) {
      open[start->job] = {start->time, start->allocation.nodes.size()};
    } else if (const auto* again = std::get_if<JobRequeued>(&event)) {
      close(again->job, again->time);
    } else if (const auto* end = std::get_if<JobEnded>(&event)) {
      close(end->job, end->time);
    }
  }
  const AccountUsage used = cluster.world.state.usage().UsageOf("", "ada");
  const double billed =
      static_cast<double>(ShownAt(used.usage, cluster.world.now, Duration(0)).value()) / 1e6;
  EXPECT_NEAR(billed, expected, 1);
  // What a silent node ran is on the bill, and what was held for it until its part had ended.
  EXPECT_GE(billed, cluster.NodeSeconds(job) - 1);
  EXPECT_LE(billed, cluster.NodeSeconds(job) +
                        3 * std::chrono::duration<double>(kElasticFence).count() + 12);
}

// E8
TEST(ElasticHandlers, AJobWithOneSizeIsRigid) {
  Cluster cluster;
  for (int i = 0; i < 2; ++i) {
    cluster.AddNode();
  }
  const JobId job = cluster.Submit(2, 2, hours(10));
  EXPECT_FALSE(cluster.world.state.FindJob(job)->spec->elastic);
  cluster.Play(minutes(1));
  cluster.AddNode();
  cluster.Silence(cluster.Its(job).allocation.nodes.back().node);
  cluster.Play(minutes(5));
  EXPECT_EQ(cluster.RestartsOf(job), 0U) << "it waits for its node, as a job that is not elastic";
}

// A job of two to four nodes that runs on both that there are, and waits ten minutes for another.
JobId StartOnItsLeast(Cluster& cluster) {
  for (int i = 0; i < 2; ++i) {
    cluster.AddNode();
  }
  JobSpec spec = cluster.world.Spec({});
  spec.request.min_nodes = 2;
  spec.request.max_nodes = 4;
  spec.request.cpus_per_task = 4;
  spec.elastic = true;
  spec.replace_wait = minutes(10);
  const JobId job = cluster.Submit(spec);
  cluster.Play(minutes(1));
  return job;
}

TEST(ElasticHandlers, AJobWithTooFewNodesLeftWaitsForAReplacement) {
  Cluster cluster;
  const JobId job = StartOnItsLeast(cluster);
  ASSERT_EQ(cluster.NodesOf(job), 2U);
  const JobId other = cluster.SubmitPlain(1, hours(1));
  cluster.Silence(cluster.Its(job).allocation.nodes.back().node);
  cluster.Play(minutes(5));
  EXPECT_EQ(cluster.world.StateOf(job), JobState::kCompleting) << "it keeps what is left";
  EXPECT_EQ(cluster.world.StateOf(other), JobState::kPending);
  cluster.AddNode();
  cluster.Play(seconds(5));
  EXPECT_EQ(cluster.NodesOf(job), 2U);
  EXPECT_EQ(cluster.RestartsOf(job), 1U);
  EXPECT_TRUE(cluster.NeverOverlapped());
}

TEST(ElasticHandlers, AJobThatFindsNoReplacementInTimeWaitsWithoutNodes) {
  Cluster cluster;
  const JobId job = StartOnItsLeast(cluster);
  const JobId other = cluster.SubmitPlain(1, minutes(1));
  cluster.Silence(cluster.Its(job).allocation.nodes.back().node);
  cluster.Play(minutes(11));
  EXPECT_EQ(cluster.world.StateOf(job), JobState::kPending);
  EXPECT_TRUE(cluster.Runs(other)) << "what it cannot use is others'";
}

TEST(ElasticHandlers, WaitingJobsHaveFreeNodesBeforeElasticOnesGrow) {
  Cluster cluster;
  for (int i = 0; i < 2; ++i) {
    cluster.AddNode();
  }
  const JobId plain = cluster.SubmitPlain(1, hours(1));
  cluster.Play(seconds(1));
  const JobId job = cluster.Submit(1, 2, hours(10));
  cluster.Play(seconds(1));
  ASSERT_EQ(cluster.NodesOf(job), 1U);
  const JobId next = cluster.SubmitPlain(1, hours(1));
  cluster.Finish(plain);
  cluster.Play(minutes(5));
  EXPECT_TRUE(cluster.Runs(next));
  EXPECT_EQ(cluster.RestartsOf(job), 0U);
  cluster.Finish(next);
  cluster.Play(minutes(1));
  EXPECT_EQ(cluster.NodesOf(job), 2U);
}

TEST(ElasticHandlers, NobodyTakesWhatAGrowingJobHasLeftForAMoment) {
  Cluster cluster;
  cluster.AddNode();
  const JobId job = cluster.Submit(1, 3, hours(10));
  cluster.Play(seconds(1));
  cluster.AddNode();
  cluster.AddNode();
  for (int i = 0; i < 60 && cluster.Its(job).ending == EndCause::kNone; ++i) {
    cluster.Play(seconds(1));
  }
  ASSERT_EQ(cluster.Its(job).ending, EndCause::kResized);
  const JobId other = cluster.SubmitPlain(1, minutes(5));
  cluster.Play(seconds(5));
  EXPECT_EQ(cluster.NodesOf(job), 3U);
  EXPECT_EQ(cluster.world.StateOf(other), JobState::kPending);
}

TEST(ElasticHandlers, AJobNearItsEndDoesNotGrow) {
  Cluster cluster;
  cluster.AddNode();
  const JobId job = cluster.Submit(1, 2, minutes(3));
  cluster.Play(seconds(1));
  cluster.AddNode();
  cluster.Play(minutes(2));
  EXPECT_EQ(cluster.RestartsOf(job), 0U) << "half of what is left of 3 min is less than 120 s";
}

TEST(ElasticHandlers, AChangeOfSizeLeavesTheRestOfTheTimeLimit) {
  Cluster cluster;
  cluster.AddNode();
  const JobId job = cluster.Submit(1, 2, hours(2));
  cluster.Play(hours(1));
  cluster.AddNode();
  cluster.Play(minutes(1));
  ASSERT_EQ(cluster.NodesOf(job), 2U);
  const Duration left = cluster.world.state.FindJob(job)->spec->time_limit;
  EXPECT_LE(left, hours(1));
  EXPECT_GE(left, hours(1) - minutes(2));
}

TEST(ElasticHandlers, WhatItWasGivenAsItRanIsLeftToo) {
  Cluster cluster;
  cluster.AddNode();
  const JobId job = cluster.Submit(1, 2, hours(2));
  cluster.Play(hours(1));
  JobUpdate longer;
  longer.time_limit = hours(3);
  cluster.Ask(UpdateJob{job, std::nullopt, longer, {}, User{0, 0, "root"}});
  ASSERT_EQ(cluster.world.state.FindJob(job)->spec->time_limit, hours(3));
  cluster.AddNode();
  cluster.Play(minutes(1));
  ASSERT_EQ(cluster.NodesOf(job), 2U);
  const Duration left = cluster.world.state.FindJob(job)->spec->time_limit;
  EXPECT_LE(left, hours(2));
  EXPECT_GE(left, hours(2) - minutes(2));
}

TEST(ElasticHandlers, AJobThatEndsByItselfAsItGrowsHasEnded) {
  Cluster cluster;
  const JobId job = GrowingOn(cluster);
  ASSERT_EQ(cluster.Its(job).ending, EndCause::kResized);
  cluster.Finish(job);
  ASSERT_TRUE(cluster.world.EndOf(job).has_value());
  EXPECT_EQ(cluster.world.EndOf(job)->state, JobState::kCompleted);
}

TEST(ElasticHandlers, AJobThatIsCancelledAsItGrowsIsCancelled) {
  Cluster cluster;
  const JobId job = GrowingOn(cluster);
  cluster.Ask(CancelJob{job, std::nullopt, cluster.world.ada});
  cluster.Play(seconds(10));
  ASSERT_TRUE(cluster.world.EndOf(job).has_value());
  EXPECT_EQ(cluster.world.EndOf(job)->state, JobState::kCancelled);
}

TEST(ElasticHandlers, AJobThatIsRequeuedAsItLosesANodeWaitsInItsPlace) {
  Cluster cluster;
  cluster.AddNode();
  const NodeId second = cluster.AddNode();
  JobSpec spec = cluster.world.Spec({});
  spec.request.min_nodes = 1;
  spec.request.max_nodes = 2;
  spec.request.cpus_per_task = 4;
  spec.elastic = true;
  spec.nice = 100;
  const JobId job = cluster.Submit(spec);
  cluster.Play(seconds(1));
  cluster.Silence(second);
  cluster.Ask(RequeueJob{job, std::nullopt, cluster.world.ada});
  const JobId other = cluster.SubmitPlain(1, hours(1));
  cluster.Play(minutes(1));
  EXPECT_EQ(cluster.RestartsOf(job), 1U);
  EXPECT_EQ(cluster.world.state.FindJob(job)->requeues, 1U);
  EXPECT_TRUE(cluster.Runs(other)) << "which goes before it in the queue";
  EXPECT_EQ(cluster.world.StateOf(job), JobState::kPending);
}

TEST(ElasticHandlers, AScriptThatFailsFailsItsJob) {
  Cluster cluster;
  cluster.AddNode();
  cluster.AddNode();
  const JobId job = cluster.Submit(1, 2, hours(2));
  cluster.Play(seconds(1));
  cluster.EndItself(job, ExitStatus{1, 0});
  cluster.Play(seconds(10));
  ASSERT_TRUE(cluster.world.EndOf(job).has_value());
  EXPECT_EQ(cluster.world.EndOf(job)->state, JobState::kFailed);
}

TEST(ElasticHandlers, AJobStartsOnFewerNodesWhereALimitIsAgainstMore) {
  testing::PolicyWorld world;
  for (const char* name : {"n1", "n2", "n3"}) {
    world.AddNode(name);
  }
  world.Add(PolicyKind::kQos, "small", {{"MaxTRESPerUser", "node=2"}});
  JobSpec spec = world.Spec({});
  spec.request.min_nodes = 1;
  spec.request.max_nodes = 3;
  spec.request.cpus_per_task = 4;
  spec.elastic = true;
  spec.qos = "small";
  const JobId job = world.Submit(spec);
  world.Schedule();
  ASSERT_TRUE(world.state.FindJob(job)->attempt.has_value());
  EXPECT_EQ(world.state.FindJob(job)->attempt->runs.size(), 2U);
  for (const NodeAllocation& part : world.state.FindJob(job)->attempt->allocation.nodes) {
    world.TellStarted(part.node, job);
  }
  const Plan plan = world.MakePlanNow();
  ASSERT_EQ(plan.resizes.size(), 1U);
  EXPECT_EQ(plan.resizes.front().verdict, ResizeVerdict::kNoRoom) << "the limit is its room";
}

TEST(ElasticHandlers, WhatCannotChangeItsSizeIsRefused) {
  World world;
  const auto refusal = [&](const std::function<void(JobSpec&)>& change) {
    JobSpec spec = world.Spec({});
    spec.request.min_nodes = 1;
    spec.request.max_nodes = 4;
    spec.elastic = true;
    change(spec);
    return std::string(Normalise(spec, world.config).status().message());
  };
  EXPECT_EQ(refusal([](JobSpec&) {}), "");
  EXPECT_EQ(refusal([](JobSpec& spec) { spec.kind = JobKind::kRun; }),
            "--elastic: run: only batch scripts run again; submit it");
  EXPECT_EQ(refusal([](JobSpec& spec) { spec.requeue = Choice::kNo; }),
            "--elastic: --no-requeue: each change of its size is another run; leave it out");
  EXPECT_EQ(refusal([](JobSpec& spec) { spec.request.tasks = 4; }),
            "--elastic: --ntasks or --gpus: says one size; say --ntasks-per-node and "
            "--gpus-per-node with --nodes=MIN-MAX");
  EXPECT_EQ(refusal([](JobSpec& spec) { spec.request.switches = 1; }),
            "--elastic: --switches: excludes it; leave one out");
  EXPECT_EQ(refusal([](JobSpec& spec) {
              spec.elastic = false;
              spec.replace_wait = minutes(1);
            }),
            "--replace-wait: only for --elastic jobs; add --elastic");
}

}  // namespace
}  // namespace muster::core
