#include "scheduler/simulator/workload/site_changes.h"

#include <gtest/gtest.h>

#include <set>

#include "tests/unit/scheduler/core/policy_world.h"

namespace muster::sim {
namespace {

using core::testing::PolicyWorld;

class SiteChanges : public ::testing::Test {
 protected:
  SiteChanges() {
    for (const char* name : {"node1", "node2", "node3"}) {
      world_.AddNode(name);
    }
    for (ChangePolicy& change : SiteAtFirst(3)) {
      const core::Transition made = world_.Take(std::move(change));
      EXPECT_TRUE(made.status.ok()) << made.status;
    }
  }
  PolicyWorld world_;
};

TEST_F(SiteChanges, MostOfWhatIsDrawnIsAChangeThatTheSiteTakes) {
  RandomSequence random(5);
  std::set<PolicyKind> kinds;
  int refused = 0;
  for (int i = 0; i < 200; ++i) {
    ChangePolicy change = DrawChange(3, random);
    kinds.insert(change.kind);
    refused += world_.Take(std::move(change)).status.ok() ? 0 : 1;
  }
  EXPECT_EQ(kinds.size(), 4U) << "partitions, QOS, accounts and associations";
  EXPECT_EQ(refused, 0);
}

TEST_F(SiteChanges, NothingLimitsAJobOnceAllIsLifted) {
  RandomSequence random(6);
  for (int i = 0; i < 200; ++i) {
    world_.Take(DrawChange(3, random));
  }
  for (ChangePolicy& change : LiftAll()) {
    const core::Transition lifted = world_.Take(std::move(change));
    EXPECT_TRUE(lifted.status.ok()) << lifted.status;
  }
  for (const char* partition : {"all", "half", "few"}) {
    const JobId job = world_.Run(core::testing::Tasks(1), "quick", "optics", partition, 30);
    EXPECT_EQ(world_.StatusOf(job), "running") << partition;
  }
}

TEST(SiteSettings, AreOfEachOrderAndBackfillInTheEnd) {
  RandomSequence random(2);
  std::set<QueueRule> orders;
  std::set<Backfill> backfills;
  for (int i = 0; i < 100; ++i) {
    SchedulerConfig config;
    DrawSettings(random, &config);
    orders.insert(config.priority.order);
    backfills.insert(config.backfill);
  }
  EXPECT_EQ(orders.size(), 3U);
  EXPECT_EQ(backfills.size(), 4U);
}

}  // namespace
}  // namespace muster::sim
