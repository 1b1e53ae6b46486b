#include "daemon/store/rows/health_rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "daemon/store/job_store.h"
#include "tests/unit/daemon/store/store_rig.h"

namespace muster::daemon {
namespace {

HealthRecord RecordOf(std::uint64_t number) {
  HealthRecord record;
  record.number = number;
  record.kind = HealthKind::kBurnIn;
  record.cause = HealthCause::kReadmission;
  record.status = HealthStatus::kSuspect;
  record.time = At(static_cast<std::int64_t>(number) * 1000);
  record.verdicts = {
      {{"clock", "GHz", HealthSense::kHigher, 2'100, 0}, 3'400, 20, 12, HealthStatus::kSuspect}};
  return record;
}

class HealthRowsTest : public ::testing::Test {
 protected:
  HealthRowsTest() { Open(); }
  void Open() {
    store_.reset();
    store_ = OpenStore(directory_.path()).value();
  }
  void Commit(const Batch& batch) {
    const absl::Status status = store_->Commit({&batch, 1});
    ASSERT_TRUE(status.ok()) << status;
  }
  TempDirectory directory_;
  std::unique_ptr<JobStore> store_;
  BatchMaker make_;
};

TEST_F(HealthRowsTest, WhatIsKnownOfANodeIsReadBackAsItWas) {
  NodeHealth health;
  health.node = NodeId(4);
  health.number = 9;
  health.running = true;
  health.ordered = At(77);
  health.boot_id = "boot";
  health.slow = 2;
  health.drained = true;
  health.last = RecordOf(8);
  health.baselines = {{"clock", {3'390, 3'400}}};
  const FailureTally tally{NodeId(4), 2'500'000, std::chrono::hours(70), At(5), At(6), 1'500'000};
  Batch batch = make_.Of({HealthChecked{NodeId(4), RecordOf(8), At(8)}});
  batch.health = {health};
  batch.tallies = {tally};
  Commit(batch);
  Open();
  const StateImage image = store_->Load().value();
  EXPECT_THAT(image.health, ::testing::ElementsAre(health));
  EXPECT_THAT(image.tallies, ::testing::ElementsAre(tally));
}

TEST_F(HealthRowsTest, AnAlertIsReadBackWhileItLasts) {
  Alert silent;
  silent.rule = "NodeSilent";
  silent.severity = "critical";
  silent.subject = silent.node = "n1";
  silent.text = "node n1 does not answer";
  silent.since = At(5);
  Alert idle = silent;
  idle.rule = "GpuIdle";
  idle.subject = "job 7";
  idle.job = JobId(7);
  idle.label = "7";
  idle.user = "ada";
  Commit(make_.Of({AlertBegan{silent, At(6)}, AlertBegan{idle, At(6)}}));
  Open();
  EXPECT_THAT(store_->Load().value().alerts, ::testing::ElementsAre(idle, silent));
  Commit(make_.Of({AlertEnded{silent, At(7)}}));
  Open();
  EXPECT_THAT(store_->Load().value().alerts, ::testing::ElementsAre(idle));
}

TEST_F(HealthRowsTest, ANarrowLinkIsReadBackUntilItIsResumed) {
  const NarrowLink one{"leaf1", "leaf2", "cable", "ada", At(5)};
  const NarrowLink other{"leaf1", "leaf3", "port", "bob", At(6)};
  Commit(make_.Of({LinkNarrowed{other, true, At(6)}, LinkNarrowed{one, true, At(7)}}));
  Open();
  EXPECT_THAT(store_->Load().value().narrow_links, ::testing::ElementsAre(one, other));
  Commit(make_.Of({LinkNarrowed{other, false, At(8)}}));
  Open();
  EXPECT_THAT(store_->Load().value().narrow_links, ::testing::ElementsAre(one));
}

TEST_F(HealthRowsTest, ChecksAreToldNewestFirstAndTheOldestGo) {
  for (std::uint64_t number = 1; number <= kHealthKept + 3; ++number) {
    Commit(make_.Of({HealthChecked{NodeId(1), RecordOf(number), At(1)},
                     HealthChecked{NodeId(2), RecordOf(1), At(1)}}));
  }
  const auto newest = store_->ReadHealth(NodeId(1), 2).value();
  EXPECT_THAT(newest, ::testing::ElementsAre(RecordOf(kHealthKept + 3), RecordOf(kHealthKept + 2)));
  EXPECT_EQ(store_->ReadHealth(NodeId(1), 10'000).value().size(), kHealthKept);
  EXPECT_EQ(store_->ReadHealth(NodeId(2), 10'000).value().size(), 1U);
  EXPECT_TRUE(store_->ReadHealth(NodeId(3), 10).value().empty());
}

}  // namespace
}  // namespace muster::daemon
