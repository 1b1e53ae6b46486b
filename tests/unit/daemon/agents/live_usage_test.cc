#include "daemon/agents/live_usage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <optional>

#include "tests/unit/scheduler/core/builders.h"

namespace muster::daemon {
namespace {

using core::testing::Tasks;
using ::testing::IsEmpty;

class LiveUsageTest : public ::testing::Test {
 protected:
  LiveUsageTest() : one_(world_.AddNode("n1")), two_(world_.AddNode("n2")) {
    ResourceRequest request = Tasks(8);
    request.min_nodes = request.max_nodes = 2;
    job_ = world_.Submit(request);
    world_.Schedule();
  }
  [[nodiscard]] static UsageSample Sample(JobId job, int attempt, int cpu_s) {
    UsageSample sample;
    sample.job = job;
    sample.attempt = AttemptNumber(static_cast<std::uint32_t>(attempt));
    sample.time = core::testing::At(cpu_s);
    sample.usage.user_cpu = std::chrono::seconds(cpu_s);
    return sample;
  }
  void Take(NodeId node, const std::vector<UsageSample>& samples) {
    live_.Take(node, samples, world_.state);
  }
  [[nodiscard]] std::vector<NodeUsage> Of(JobId job) const {
    return live_.Of(*world_.state.FindJob(job), world_.state);
  }

  core::testing::World world_;
  NodeId one_;
  NodeId two_;
  JobId job_;
  LiveUsage live_;
};

TEST_F(LiveUsageTest, TheNewestOfEachNodeIsShownInTheOrderOfTheNodes) {
  ASSERT_TRUE(world_.state.FindJob(job_)->attempt.has_value());
  Take(two_, {Sample(job_, 1, 5)});
  Take(one_, {Sample(job_, 1, 7)});
  Take(two_, {Sample(job_, 1, 9)});
  const std::vector<NodeUsage> usage = Of(job_);
  ASSERT_EQ(usage.size(), 2U);
  EXPECT_EQ(usage[0], (NodeUsage{"n1", core::testing::At(7), Sample(job_, 1, 7).usage}));
  EXPECT_EQ(usage[1], (NodeUsage{"n2", core::testing::At(9), Sample(job_, 1, 9).usage}));
}

TEST_F(LiveUsageTest, ANodesWordIsTakenOnlyForWhatRunsOnIt) {
  const NodeId other = world_.AddNode("n3");
  const JobId there = world_.Submit(Tasks(4));
  world_.Schedule();
  ASSERT_TRUE(world_.state.FindJob(there)->attempt.has_value());
  Take(other, {Sample(job_, 1, 5), Sample(there, 2, 5), Sample(JobId(99), 1, 5)});
  EXPECT_THAT(Of(job_), IsEmpty());
  EXPECT_THAT(Of(there), IsEmpty()) << "another attempt";
  Take(other, {Sample(there, 1, 5)});
  EXPECT_EQ(Of(there).size(), 1U);
}

TEST_F(LiveUsageTest, ARankIsJudgedBesideThoseOfOtherNodesAndAWarningNamesIt) {
  const Job& job = *world_.state.FindJob(job_);
  const auto tell = [&](NodeId node, std::uint32_t slow) {
    UsageSample sample = Sample(job_, 1, 70);
    for (const NodeAllocation& part : job.attempt->allocation.nodes) {
      for (const RankPlacement& rank :
           part.node == node ? part.ranks : std::vector<RankPlacement>()) {
        RankPace& pace = sample.ranks.emplace_back();
        pace.step = StepId(1);
        pace.rank = rank.rank;
        pace.span = std::chrono::seconds(60);
        pace.looks = 6;
        pace.wanted = 1000;
        pace.granted = rank.rank == slow ? 400 : 990;
      }
    }
    Take(node, {sample});
  };
  EXPECT_EQ(live_.StragglersOf(job), std::nullopt);
  tell(one_, 6);
  tell(two_, 6);
  live_.LookForStragglers(two_, world_.state, core::testing::At(70));
  const StragglersView found = live_.StragglersOf(job).value();
  EXPECT_EQ(found.judged, 8U);
  ASSERT_EQ(found.found.size(), 1U);
  EXPECT_EQ(found.found[0].rank, 6U);
  EXPECT_EQ(found.found[0].since, core::testing::At(10));
  const std::vector<Warning> warnings = live_.WarningsOf(job);
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_EQ(warnings[0].rule, "Straggler");
  EXPECT_EQ(warnings[0].since, core::testing::At(10));
  EXPECT_EQ(warnings[0].text, "a rank is slower than the peers: " + found.found[0].text);
  tell(two_, 99);
  live_.LookForStragglers(two_, world_.state, core::testing::At(90));
  EXPECT_THAT(live_.WarningsOf(job), IsEmpty()) << "it is as fast as the others again";
}

TEST_F(LiveUsageTest, ARankWhoseGpuMeetsAnErrorIsNamedToItsJobAlone) {
  core::testing::Shape shape;
  shape.gpus = 2;
  const NodeId node = world_.AddNode("n9", shape);
  ResourceRequest request = Tasks(1);
  request.gpus_per_task.count = 1;
  const JobId first = world_.Submit(request);
  const JobId second = world_.Submit(request);
  world_.Schedule();
  const Job& job = *world_.state.FindJob(first);
  ASSERT_TRUE(job.attempt.has_value());
  const std::string uuid = world_.state.FindNode(node)
                               ->machine->gpus[job.attempt->allocation.nodes[0].ranks[0].gpus[0]]
                               .uuid;
  const auto tell = [&](std::optional<std::uint64_t> xids, Time now) {
    GpuSample gpu;
    gpu.gpu = uuid;
    gpu.xid = 31;
    gpu.xids = xids;
    Take(node, {Sample(first, 1, 5), Sample(second, 1, 5)});
    live_.TakeGpus(node, {gpu}, now);
    live_.LookForStragglers(node, world_.state, now);
  };
  tell(std::nullopt, job.attempt->started + std::chrono::seconds(1));
  tell(1, job.attempt->started + std::chrono::seconds(2));
  EXPECT_THAT(live_.WarningsOf(job), IsEmpty()) << "nobody knows when, perhaps before it began";
  tell(2, job.attempt->started + std::chrono::seconds(5));
  const std::vector<Warning> warnings = live_.WarningsOf(job);
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_EQ(warnings[0].rule, "GpuXid");
  EXPECT_EQ(warnings[0].text, "rank 0 on n9 met XID 31 (GPU memory page fault) on GPU " + uuid);
  EXPECT_EQ(warnings[0].since, job.attempt->started + std::chrono::seconds(5));
  EXPECT_THAT(live_.WarningsOf(*world_.state.FindJob(second)), IsEmpty()) << "it has the other";
  live_.Forget(node);
  EXPECT_THAT(live_.WarningsOf(job), IsEmpty());
}

TEST_F(LiveUsageTest, AnAttemptThatHasEndedOnANodeIsNotShownThere) {
  Take(one_, {Sample(job_, 1, 5)});
  Take(two_, {Sample(job_, 1, 5)});
  world_.TellStarted(one_, job_);
  world_.TellStarted(two_, job_);
  world_.TellEnded(two_, job_, 2);
  ASSERT_NE(world_.state.FindJob(job_), nullptr);
  ASSERT_EQ(Of(job_).size(), 1U);
  EXPECT_EQ(Of(job_)[0].node, "n1");
  Take(two_, {Sample(job_, 1, 6)});
  EXPECT_EQ(Of(job_).size(), 1U) << "told late";
}

TEST_F(LiveUsageTest, WhatALostNodeSaidIsForgotten) {
  Take(one_, {Sample(job_, 1, 5)});
  Take(two_, {Sample(job_, 1, 5)});
  live_.Forget(one_);
  ASSERT_EQ(Of(job_).size(), 1U);
  world_.Take(LoseAgent{two_});
  EXPECT_THAT(Of(job_), IsEmpty());
}

TEST_F(LiveUsageTest, WhatANodeNoLongerNamesIsForgotten) {
  Take(one_, {Sample(job_, 1, 5)});
  Take(one_, {});
  EXPECT_THAT(Of(job_), IsEmpty());
}

TEST(ReadSamples, ASampleSaysWhoseAndWhen) {
  wire::UsageSamples message;
  wire::AttemptUsage& sample = *message.add_attempts();
  sample.set_job(7);
  sample.set_attempt(2);
  sample.set_time(1234);
  sample.mutable_usage()->set_user_cpu(99);
  const auto read = ReadSamples(message);
  ASSERT_TRUE(read.ok());
  ASSERT_EQ(read->size(), 1U);
  EXPECT_EQ(read->front().job, JobId(7));
  EXPECT_EQ(read->front().attempt, AttemptNumber(2));
  EXPECT_EQ(read->front().time, Time(Duration(1234)));
  EXPECT_EQ(read->front().usage.user_cpu, Duration(99));
}

}  // namespace
}  // namespace muster::daemon
