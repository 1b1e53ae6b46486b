// What is kept for metrics is what a walk over the state finds, whatever happened in between.
#include "daemon/client/outside/metered_cluster.h"

#include <gtest/gtest.h>

#include <random>

#include "daemon/client/outside/cluster_metrics.h"
#include "tests/unit/scheduler/core/history.h"

namespace muster::daemon {
namespace {

using core::testing::History;

// A history whose events are noted as the controller's loop notes them.
class WatchedHistory {
 public:
  explicit WatchedHistory(std::uint64_t seed) : history_(seed) {}

  void Turn() {
    history_.Turn();
    const std::vector<Event>& events = history_.events();
    const std::uint64_t first = history_.state().version().value() - (events.size() - told_);
    for (std::uint64_t version = first + 1; told_ < events.size(); ++told_, ++version) {
      touched_.Note(events[told_], Version(version));
    }
  }
  [[nodiscard]] MeteredChange Look(Version since, bool knows = true) const {
    static const WaitingReasons none;
    static const std::shared_ptr<const Plan> no_plan;
    static const Alerts no_alerts;
    return LookForMetrics(StateView(history_.state(), none, no_plan, no_alerts, history_.now(),
                                    knows ? &touched_ : nullptr),
                          since);
  }
  [[nodiscard]] const History& history() const { return history_; }

 private:
  History history_;
  std::size_t told_ = 0;
  core::TouchedJobs touched_;
};

// Each element of a run as a row of its own.
std::map<JobId, MeteredJobs> OneByOne(const std::map<JobId, MeteredJobs>& jobs) {
  std::map<JobId, MeteredJobs> single;
  for (const auto& [first, row] : jobs) {
    for (std::uint64_t i = 0; i < row.count; ++i) {
      MeteredJobs one = row;
      one.count = 1;
      EXPECT_TRUE(single.emplace(JobId(first.value() + i), one).second) << "twice";
    }
  }
  return single;
}

TEST(MeteredClusterTest, WhatIsKeptEqualsAWalkWhateverHappenedSinceTheLookBefore) {
  std::size_t whole = 0;
  std::size_t parts = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    WatchedHistory watched(seed);
    std::mt19937_64 random(seed);
    MeteredCluster kept;
    for (int turn = 0; turn < 400; ++turn) {
      watched.Turn();
      if (random() % 8 != 0) {
        continue;
      }
      MeteredChange change = watched.Look(kept.version);
      (change.whole ? whole : parts) += 1;
      ASSERT_TRUE(kept.Take(std::move(change)));
      MeteredCluster walked;
      ASSERT_TRUE(walked.Take(watched.Look(Version(), false)));
      ASSERT_EQ(OneByOne(kept.jobs), OneByOne(walked.jobs)) << "seed " << seed << " turn " << turn;
      ASSERT_EQ(kept.nodes, walked.nodes) << "seed " << seed << " turn " << turn;
      const Meters meters;
      ASSERT_EQ(MetricsOf(kept, meters, {}, "here", "1").SerializeAsString(),
                MetricsOf(walked, meters, {}, "here", "1").SerializeAsString());
    }
    ASSERT_EQ(watched.history().problem(), "");
  }
  EXPECT_GT(parts, 1000U) << "looks at what changed alone";
  EXPECT_GT(whole, 60U) << "looks after what is not known";
}

TEST(MeteredClusterTest, AChangeThatDoesNotFollowIsNotTaken) {
  WatchedHistory watched(3);
  MeteredCluster kept;
  watched.Turn();
  ASSERT_TRUE(kept.Take(watched.Look(Version())));
  MeteredChange later;
  later.since = Version(kept.version.value() + 1);
  const MeteredCluster before = kept;
  EXPECT_FALSE(kept.Take(later));
  EXPECT_EQ(kept.version, before.version);
  EXPECT_EQ(kept.jobs, before.jobs);
}

TEST(MeteredClusterTest, ElementsWithinARunAreCutOutOfIt) {
  MeteredCluster kept;
  MeteredJobs run;
  run.count = 10;
  MeteredChange all;
  all.whole = true;
  all.version = Version(1);
  all.jobs = {{JobId(10), run}};
  ASSERT_TRUE(kept.Take(all));
  MeteredChange some;
  some.since = Version(1);
  some.version = Version(2);
  some.touched = {{JobId(12), JobId(14)}, {JobId(19), JobId(25)}};
  MeteredJobs one;
  one.state = JobState::kRunning;
  some.jobs = {{JobId(12), one}};
  ASSERT_TRUE(kept.Take(some));
  ASSERT_EQ(kept.jobs.size(), 3U);
  EXPECT_EQ(kept.jobs.at(JobId(10)).count, 2U);
  EXPECT_EQ(kept.jobs.at(JobId(12)).state, JobState::kRunning);
  EXPECT_EQ(kept.jobs.at(JobId(14)).count, 5U);
}

}  // namespace
}  // namespace muster::daemon
