#include "scheduler/core/plan/queue/prompt_keys.h"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>

#include "scheduler/core/plan/queue/backlog.h"
#include "scheduler/core/plan/queue/dominant_share.h"
#include "scheduler/core/plan/queue/queue_priority.h"
#include "scheduler/model/settings/prompt_policy.h"
#include "tests/unit/scheduler/core/builders.h"

namespace muster::core {
namespace {

using std::chrono::hours;
using testing::At;
using testing::MakeNode;
using testing::Normal;
using testing::Tasks;

// One node of four cores; jobs wait on it.
class PromptKeysTest : public ::testing::Test {
 protected:
  PromptKeysTest() {
    config_.priority.order = QueueRule::kPrompt;
    config_.prompt.stretch_permille = 5000;
    snapshot_.now = At(100'000);
    snapshot_.nodes.push_back(MakeNode(1, {.cores = 4}));
  }
  WaitingJob& Wait(Duration limit, std::uint32_t cores = 4) {
    WaitingJob job;
    job.id = JobId(snapshot_.waiting.size() + 1);
    job.submission = job.id;
    job.submitted = snapshot_.now;
    JobSpec spec = Normal(Tasks(cores));
    spec.time_limit = limit;
    spec.user = User{1000, 1000, "ada"};
    job.spec = std::make_shared<const JobSpec>(spec);
    snapshot_.waiting.push_back(job);
    return snapshot_.waiting.back();
  }
  void Nice(WaitingJob& job, std::int32_t nice) {
    JobSpec spec = *job.spec;
    spec.nice = nice;
    job.spec = std::make_shared<const JobSpec>(spec);
  }
  std::vector<std::uint64_t> Queue() {
    std::vector<std::uint32_t> totals;
    std::vector<std::uint64_t> ids;
    for (const QueueEntry& entry : QueuePriority(snapshot_, config_).Order(&totals)) {
      ids.push_back(snapshot_.waiting[entry.entry].id.value());
    }
    return ids;
  }

  SchedulerConfig config_;
  Snapshot snapshot_;
};

using Ids = std::vector<std::uint64_t>;

TEST_F(PromptKeysTest, AShortJobGoesBeforeALongOneAndOfEqualOnesTheFirst) {
  Wait(hours(10));
  Wait(hours(1));
  Wait(hours(1));
  EXPECT_EQ(Queue(), (Ids{2, 3, 1}));
}

TEST_F(PromptKeysTest, TheEstimateCountsAndNotTheLimit) {
  Wait(hours(10)).estimate = std::chrono::minutes(5);
  Wait(hours(1));
  EXPECT_EQ(Queue(), (Ids{1, 2}));
}

TEST_F(PromptKeysTest, WhoHasWaitedForHisPatienceGoesFirst) {
  config_.prompt.backlog_permille = 0;
  Wait(hours(1));
  Wait(hours(40)).submitted = snapshot_.now - config_.prompt.patience;
  EXPECT_EQ(Queue(), (Ids{2, 1}));
}

TEST_F(PromptKeysTest, NiceIsSecondsAndAPriorityOfTheSitesGoesBeforeAll) {
  Nice(Wait(hours(1)), 7200 * 6);
  Wait(hours(2));
  EXPECT_EQ(Queue(), (Ids{2, 1}));
  JobSpec spec = *snapshot_.waiting[0].spec;
  spec.priority = 4'000'000'000;
  snapshot_.waiting[0].spec = std::make_shared<const JobSpec>(spec);
  EXPECT_EQ(Queue(), (Ids{1, 2}));
}

TEST_F(PromptKeysTest, AWeightOnAgeSaysWhatAPointIsWorth) {
  config_.priority.weight_age = 1000;
  config_.priority.max_age = std::chrono::seconds(1000);
  Wait(std::chrono::seconds(1000));
  Nice(Wait(std::chrono::seconds(900)), 499);
  EXPECT_EQ(Queue(), (Ids{2, 1})) << "499 points are 499 s, 100 s of estimate are 500 s of key";
  Nice(snapshot_.waiting[1], 501);
  EXPECT_EQ(Queue(), (Ids{1, 2}));
}

TEST_F(PromptKeysTest, AHeavyUsersShortJobCountsForLonger) {
  const Backlog none(snapshot_, WholeOf(snapshot_.nodes));
  const PromptKeys keys(snapshot_, config_, none);
  const WaitingJob job = Wait(hours(1));
  const std::int64_t best = keys.KeyOf(job, kWholeFactor, 0);
  const std::int64_t half = keys.KeyOf(job, Factor(kWholeFactor.value() / 2), 0);
  const std::int64_t worst = keys.KeyOf(job, Factor(0), 0);
  const std::int64_t hour = 3'600'000;
  EXPECT_EQ(half - best, 5 * hour);
  EXPECT_EQ(worst - best, 15 * 5 * hour);
}

TEST_F(PromptKeysTest, TheBacklogIsTheTimeForWhichTheClusterIsBusy) {
  Wait(hours(10), 2);
  Wait(hours(3)).estimate = hours(1);
  Wait(Duration(0), 4);
  const Backlog backlog(snapshot_, WholeOf(snapshot_.nodes));
  EXPECT_EQ(backlog.All(), hours(5 + 1 + 24));
  EXPECT_EQ(backlog.Before(JobId(1)), hours(0));
  EXPECT_EQ(backlog.Before(JobId(2)), hours(5));
  EXPECT_EQ(backlog.Before(JobId(3)), hours(8)) << "by limits";
}

TEST(DominantShare, IsTheLargestPartOfTheClusters) {
  const Amounts whole{.cpus = 100, .memory = Bytes(1000), .gpu_share = 4000};
  EXPECT_EQ(DominantShare({.cpus = 10, .memory = Bytes(500), .gpu_share = 1000}, whole),
            kShareParts / 2);
  EXPECT_EQ(DominantShare({}, whole), 0U);
  EXPECT_EQ(DominantShare({.cpus = 10, .gpu_share = 1000}, {.cpus = 100}), kShareParts / 10);
}

}  // namespace
}  // namespace muster::core
