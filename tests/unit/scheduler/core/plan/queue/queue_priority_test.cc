#include "scheduler/core/plan/queue/queue_priority.h"

#include <gtest/gtest.h>

#include "scheduler/core/plan/queue/waiting_jobs.h"
#include "scheduler/core/plan/snapshot_builder.h"
#include "scheduler/core/share/decay.h"
#include "tests/unit/scheduler/core/policy_world.h"

namespace muster::core {
namespace {

using testing::PolicyWorld;
using testing::Tasks;

class QueuePriorityTest : public ::testing::Test {
 protected:
  void SetUp() override { world_.AddNode("n1"); }
  JobId Wait(const User& user, std::uint32_t tasks = 4, const std::string& account = "") {
    JobSpec spec = world_.Spec(Tasks(tasks));
    spec.user = user;
    spec.account = account;
    return world_.Submit(spec);
  }
  // The waiting jobs, best first.
  std::vector<std::uint64_t> Queue() {
    const auto snapshot = BuildSnapshot(world_.state, world_.now);
    std::vector<std::uint32_t> totals;
    std::vector<std::uint64_t> ids;
    for (const QueueEntry& queued : QueuePriority(*snapshot, world_.config).Order(&totals)) {
      for (std::uint32_t i = 0; i < queued.count; ++i) {
        ids.push_back(ElementsOf(snapshot->waiting[queued.entry], queued.first + i).id.value());
      }
    }
    return ids;
  }
  Priority Of(JobId job) {
    const auto snapshot = BuildSnapshot(world_.state, world_.now);
    const QueuePriority priority(*snapshot, world_.config);
    for (const WaitingJob& waiting : snapshot->waiting) {
      if (waiting.id == job) {
        return priority.Of(waiting);
      }
    }
    return {};
  }
  // Runs a job of the user alone for so long.
  void Use(const User& user, std::chrono::minutes time, const std::string& account = "") {
    const JobId job = Wait(user, 4, account);
    world_.Schedule();
    world_.TellStarted(world_.state.FindJob(job)->attempt->allocation.nodes[0].node, job);
    world_.now += time;
    world_.TellEnded(NodeId(1), job, 2);
  }
  PolicyWorld world_;
};

using Ids = std::vector<std::uint64_t>;

TEST_F(QueuePriorityTest, WithoutWeightsItIsFirstComeFirstServed) {
  Wait(world_.ada);
  Wait(world_.bob);
  Wait(world_.ada);
  EXPECT_EQ(Queue(), (Ids{1, 2, 3}));
}

TEST_F(QueuePriorityTest, WhoHasUsedLessComesFirst) {
  world_.config.priority.weight_fairshare = 1000;
  Use(world_.ada, std::chrono::minutes(30));
  const JobId ada = Wait(world_.ada);
  const JobId bob = Wait(world_.bob);
  EXPECT_EQ(Queue(), (Ids{bob.value(), ada.value()}));
  EXPECT_EQ(Of(bob).total - Of(ada).total, 500U) << "rank 2 of 2 against rank 1 of 2";
}

TEST_F(QueuePriorityTest, WhatRunsCountsAlready) {
  world_.config.priority.weight_fairshare = 1000;
  const JobId runs = Wait(world_.ada);
  world_.Schedule();
  ASSERT_TRUE(world_.state.FindJob(runs)->attempt.has_value());
  const JobId ada = Wait(world_.ada);
  const JobId bob = Wait(world_.bob);
  EXPECT_EQ(Queue(), (Ids{ada.value(), bob.value()})) << "nothing is used yet: they tie";
  world_.now += std::chrono::seconds(1);
  EXPECT_EQ(Queue(), (Ids{bob.value(), ada.value()}));
}

TEST_F(QueuePriorityTest, WhoWaitsLongEnoughComesFirstWhoeverElseComes) {
  world_.config.priority.weight_fairshare = 1000;
  world_.config.priority.weight_age = 100'000;
  Use(world_.ada, std::chrono::minutes(30));
  const JobId ada = Wait(world_.ada);
  world_.now += std::chrono::hours(3);
  Wait(world_.bob);
  EXPECT_EQ(Queue().front(), ada.value());
}

TEST_F(QueuePriorityTest, AHigherTierComesFirst) {
  world_.Add(PolicyKind::kPartition, "low", {{"PriorityTier", "1"}, {"Default", "yes"}});
  world_.Add(PolicyKind::kPartition, "high", {{"PriorityTier", "2"}});
  Wait(world_.ada);
  JobSpec spec = world_.Spec(Tasks(1));
  spec.partition = "high";
  const JobId high = world_.Submit(spec);
  EXPECT_EQ(Queue().front(), high.value());
}

TEST_F(QueuePriorityTest, QosAndPartitionAndSizeAndNiceAllWeigh) {
  world_.Add(PolicyKind::kQos, "urgent", {{"Priority", "100"}});
  PriorityConfig& config = world_.config.priority;
  config.weight_qos = 1000;
  config.weight_job_size = 100;
  JobSpec spec = world_.Spec(Tasks(4));
  spec.qos = "urgent";
  spec.nice = 7;
  const Priority priority = Of(world_.Submit(spec));
  EXPECT_EQ(priority.total, (1U << 31U) + 1000 + 100 - 7);
}

TEST_F(QueuePriorityTest, DrfAlternatesByDominantShare) {
  world_.AddNode("n2");
  world_.config.priority.order = QueueRule::kDrf;
  for (int i = 0; i < 3; ++i) {
    Wait(world_.ada, 2);
  }
  const JobId b1 = Wait(world_.bob, 1);
  const JobId b2 = Wait(world_.bob, 1);
  EXPECT_EQ(Queue(), (Ids{1, b1.value(), b2.value(), 2, 3}));
}

TEST_F(QueuePriorityTest, UsageIsWhatTheAttemptsHeldTimesHowLong) {
  world_.Add(PolicyKind::kAccount, "physics");
  world_.config.priority.half_life = Duration(0);
  world_.Take(BeginEpoch{});
  world_.AddNode("n1");
  Use(world_.ada, std::chrono::minutes(10), "physics");
  Use(world_.ada, std::chrono::minutes(5), "physics");
  const DecayedUsage used = world_.state.usage().UsageOf("physics", world_.ada.name).usage;
  EXPECT_EQ(ShownAt(used, world_.now, world_.state.usage().half_life()).value(),
            std::uint64_t{4} * 15 * 60 * 1'000'000);
}

TEST_F(QueuePriorityTest, AQosScalesWhatIsCharged) {
  world_.Add(PolicyKind::kQos, "half", {{"UsageFactor", "0.5"}});
  JobSpec spec = world_.Spec(Tasks(4));
  spec.qos = "half";
  const JobId job = world_.Submit(spec);
  world_.Schedule();
  EXPECT_EQ(world_.state.FindJob(job)->attempt->billing, BillingRate(2'000'000));
}

}  // namespace
}  // namespace muster::core
