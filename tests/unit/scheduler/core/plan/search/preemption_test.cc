#include "scheduler/core/plan/search/preemption.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/scheduler/core/policy_world.h"

namespace muster::core {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::PolicyWorld;
using testing::Tasks;

class PreemptionTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const char* name : {"n1", "n2", "n3", "n4"}) {
      world_.AddNode(name);  // four cores each
    }
    world_.Add(PolicyKind::kQos, "low", {});
    world_.Add(PolicyKind::kQos, "high", {{"Preempt", "low"}});
  }
  // A job that starts now and has run for so long when the test goes on.
  JobId RunFor(std::chrono::minutes time, std::uint32_t tasks, const std::string& qos = "low") {
    const JobId job = world_.Run(Tasks(tasks), qos);
    EXPECT_EQ(world_.StatusOf(job), "running");
    for (const NodeAllocation& part : world_.state.FindJob(job)->attempt->allocation.nodes) {
      world_.TellStarted(part.node, job);
    }
    world_.now += time;
    return job;
  }
  JobId Wait(std::uint32_t tasks, const std::string& qos = "high") {
    JobSpec spec = world_.Spec(Tasks(tasks));
    spec.qos = qos;
    spec.time_limit = std::chrono::minutes(10);
    return world_.Submit(spec);
  }
  std::vector<JobId> Victims(const Plan& plan) const {
    std::vector<JobId> victims;
    for (const PlannedPreemption& preemption : plan.preemptions) {
      for (const PlannedVictim& victim : preemption.victims) {
        victims.push_back(victim.job);
      }
    }
    return victims;
  }
  EndCause Ending(JobId job) const { return world_.state.FindJob(job)->attempt->ending; }
  PolicyWorld world_;
};

TEST_F(PreemptionTest, TheJobThatLosesTheLeastWorkGivesWay) {
  RunFor(std::chrono::minutes(50), 4);
  const JobId youngest = RunFor(std::chrono::minutes(1), 4);
  RunFor(std::chrono::minutes(0), 4, "high");
  RunFor(std::chrono::minutes(0), 4, "high");
  const JobId job = Wait(4);
  EXPECT_THAT(Victims(world_.MakePlanNow()), ElementsAre(youngest));
  world_.Schedule();
  EXPECT_EQ(Ending(youngest), EndCause::kPreemptedToRequeue);
  EXPECT_EQ(world_.state.FindJob(youngest)->attempt->ending_text,
            "preempted by job " + ToString(job));
}

TEST_F(PreemptionTest, NobodyGivesWayWhoIsNotNeeded) {
  for (int i = 0; i < 16; ++i) {
    RunFor(std::chrono::minutes(i % 3), 1);
  }
  Wait(1);
  Wait(1);
  EXPECT_EQ(Victims(world_.MakePlanNow()).size(), 2U) << "two cores for two jobs of one";
}

TEST_F(PreemptionTest, ALargeJobTakesNoMoreThanFitsItOnItsNodes) {
  for (int i = 0; i < 8; ++i) {
    RunFor(std::chrono::minutes(1), 2);
  }
  const JobId job = Wait(8);
  const Plan plan = world_.MakePlanNow();
  ASSERT_EQ(plan.preemptions.size(), 1U);
  EXPECT_EQ(plan.preemptions[0].job, job);
  EXPECT_EQ(plan.preemptions[0].victims.size(), 4U);
  EXPECT_EQ(plan.preemptions[0].allocation.nodes.size(), 2U);
}

TEST_F(PreemptionTest, NobodyGivesWayToAJobThatWouldNotStartForIt) {
  RunFor(std::chrono::minutes(1), 4);
  for (int i = 0; i < 3; ++i) {
    RunFor(std::chrono::minutes(0), 4, "high");
  }
  Wait(8);
  EXPECT_THAT(Victims(world_.MakePlanNow()), ElementsAre()) << "only one of two nodes can be had";
}

TEST_F(PreemptionTest, OnlyThoseMayBePreemptedWhoseQosIsNamed) {
  for (int i = 0; i < 4; ++i) {
    RunFor(std::chrono::minutes(1), 4);
  }
  Wait(4, "low");
  Wait(4, "");
  EXPECT_TRUE(world_.MakePlanNow().preemptions.empty());
}

TEST_F(PreemptionTest, AHigherTierPreemptsWhereThePartitionLetsIt) {
  world_.Add(PolicyKind::kPartition, "bottom", {{"PriorityTier", "1"}, {"PreemptMode", "CANCEL"}});
  world_.Add(PolicyKind::kPartition, "top", {{"PriorityTier", "5"}});
  std::vector<JobId> running;
  for (int i = 0; i < 4; ++i) {
    running.push_back(world_.Run(Tasks(4), "", "", "bottom"));
  }
  JobSpec spec = world_.Spec(Tasks(4));
  spec.partition = "top";
  spec.time_limit = std::chrono::minutes(10);
  world_.Submit(spec);
  const Plan plan = world_.MakePlanNow();
  ASSERT_EQ(Victims(plan).size(), 1U);
  EXPECT_FALSE(plan.preemptions[0].victims[0].requeue);
  world_.Schedule();
  EXPECT_EQ(Ending(Victims(plan)[0]), EndCause::kPreempted);
}

TEST_F(PreemptionTest, AJobIsLeftAloneForItsExemptTime) {
  world_.Set(PolicyKind::kQos, "low", {{"PreemptExemptTime", "5"}});
  for (int i = 0; i < 4; ++i) {
    RunFor(std::chrono::minutes(0), 4);
  }
  Wait(4);
  EXPECT_TRUE(world_.MakePlanNow().preemptions.empty());
  world_.now += std::chrono::minutes(5);
  EXPECT_EQ(Victims(world_.MakePlanNow()).size(), 1U);
}

TEST_F(PreemptionTest, NobodyGivesWayTwiceForOneJob) {
  for (int i = 0; i < 4; ++i) {
    RunFor(std::chrono::minutes(1), 4);
  }
  Wait(4);
  world_.Schedule();
  for (int i = 0; i < 5; ++i) {
    world_.now += std::chrono::seconds(10);
    EXPECT_TRUE(world_.MakePlanNow().preemptions.empty());
  }
}

TEST_F(PreemptionTest, ThePreemptorStartsWhenItsVictimsAreGoneAndTheyRunAgain) {
  for (int i = 0; i < 4; ++i) {
    RunFor(std::chrono::minutes(1), 4);
  }
  const JobId job = Wait(4);
  const JobId victim = Victims(world_.MakePlanNow()).at(0);
  world_.Schedule();
  const Job& ending = *world_.state.FindJob(victim);
  world_.TellEnded(ending.attempt->allocation.nodes[0].node, victim, 2);
  world_.Schedule();
  EXPECT_EQ(world_.StatusOf(job), "running");
  const Job& again = *world_.state.FindJob(victim);
  EXPECT_EQ(again.state, JobState::kPending);
  EXPECT_EQ(again.requeues, 0U) << "to give way does not count";
}

TEST_F(PreemptionTest, AJobThatMayNotRunAgainEndsAsPreempted) {
  JobSpec spec = world_.Spec(Tasks(16));
  spec.qos = "low";
  spec.requeue = Choice::kNo;
  const JobId victim = world_.Submit(spec);
  world_.Schedule();
  world_.now += std::chrono::minutes(1);
  Wait(2);
  world_.Schedule();
  world_.End(victim);
  EXPECT_EQ(world_.EndOf(victim)->state, JobState::kPreempted);
  EXPECT_THAT(world_.EndOf(victim)->text, HasSubstr("preempted by job"));
}

TEST_F(PreemptionTest, APlanWhoseVictimHasEndedTakesNobody) {
  for (int i = 0; i < 4; ++i) {
    RunFor(std::chrono::minutes(1), 4);
  }
  Wait(8);
  const Plan plan = world_.MakePlanNow();
  const std::vector<JobId> victims = Victims(plan);
  ASSERT_EQ(victims.size(), 2U);
  const NodeId node = world_.state.FindJob(victims[0])->attempt->allocation.nodes[0].node;
  world_.TellEnded(node, victims[0], 2);
  world_.Take(TakePlan{plan});
  EXPECT_EQ(Ending(victims[1]), EndCause::kNone) << "all of them or none";
}

}  // namespace
}  // namespace muster::core
