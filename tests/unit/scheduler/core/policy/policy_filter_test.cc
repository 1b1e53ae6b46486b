#include "scheduler/core/policy/policy_filter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scheduler/base/text/time_text.h"
#include "scheduler/core/explain/counterfactual.h"
#include "scheduler/core/handle/verify.h"
#include "tests/unit/scheduler/core/policy_world.h"

namespace muster::core {
namespace {

using ::testing::HasSubstr;
using testing::PolicyWorld;
using ::testing::StartsWith;
using testing::Tasks;

class PolicyFilterTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const char* name : {"n1", "n2", "n3"}) {
      world_.AddNode(name);
    }
  }
  std::string NodesOf(JobId job) const {
    std::string names;
    for (const NodeAllocation& part : world_.state.FindJob(job)->attempt->allocation.nodes) {
      names += (names.empty() ? "" : ",") + part.name;
    }
    return names;
  }
  std::string Moment(int minutes) const {
    return MomentText(world_.now + std::chrono::minutes(minutes));
  }
  PolicyWorld world_;
};

TEST_F(PolicyFilterTest, WithoutRulesThereIsOnePartitionOfAllNodes) {
  const JobId job = world_.Run(Tasks(4), "", "anything", "main");
  EXPECT_EQ(world_.StatusOf(job), "running");
  EXPECT_EQ(world_.state.FindJob(job)->spec->partition, "");
  JobSpec spec = world_.Spec(Tasks(1));
  spec.partition = "gpu";
  EXPECT_EQ(world_.Refused(spec), "--partition: there is no partition gpu; there are main");
  spec.partition = "";
  spec.qos = "high";
  EXPECT_EQ(world_.Refused(spec), "--qos: there is no QOS high; there are normal");
}

TEST_F(PolicyFilterTest, AJobAsWideAsFitsHasATaskOnEachNodeThatItsPartitionMakesItHave) {
  world_.Add(PolicyKind::kPartition, "wide", {{"Nodes", "n[1-2]"}, {"MinNodes", "2"}});
  ResourceRequest request;
  request.min_nodes = 1;
  request.max_nodes = 3;
  const JobId job = world_.Run(request, "", "", "wide");
  EXPECT_EQ(NodesOf(job), "n1,n2");
  const Job& started = *world_.state.FindJob(job);
  EXPECT_EQ(started.spec->request.tasks, 2U);
  EXPECT_EQ(started.attempt->allocation.nodes.back().ranks.size(), 1U);
}

TEST_F(PolicyFilterTest, AJobGetsNodesOfItsPartitionOnly) {
  world_.Add(PolicyKind::kPartition, "small", {{"Nodes", "n3"}, {"Default", "yes"}});
  world_.Add(PolicyKind::kPartition, "wide", {{"Nodes", "n[1-2]"}});
  const JobId job = world_.Run(Tasks(1));
  EXPECT_EQ(NodesOf(job), "n3");
  EXPECT_EQ(world_.state.FindJob(job)->attempt->partition, "small");
  EXPECT_THAT(world_.StatusOf(world_.Run(Tasks(8), "", "", "small")),
              StartsWith("BadConstraints: "));
  EXPECT_EQ(NodesOf(world_.Run(Tasks(8), "", "", "wide")), "n1,n2");
}

TEST_F(PolicyFilterTest, OfSeveralPartitionsTheFirstThatFitsIsTaken) {
  world_.Add(PolicyKind::kPartition, "a", {{"Nodes", "n1"}});
  world_.Add(PolicyKind::kPartition, "b", {{"Nodes", "n2"}});
  EXPECT_EQ(NodesOf(world_.Run(Tasks(3), "", "", "a,b")), "n1");
  EXPECT_EQ(NodesOf(world_.Run(Tasks(3), "", "", "a,b")), "n2");
  EXPECT_THAT(world_.StatusOf(world_.Run(Tasks(3), "", "", "a,b")), StartsWith("Resources: "));
}

TEST_F(PolicyFilterTest, AnotherPartitionIsSuggestedWhereTheJobWouldStartSooner) {
  world_.Add(PolicyKind::kPartition, "a", {{"Nodes", "n1"}});
  world_.Add(PolicyKind::kPartition, "b", {{"Nodes", "n2"}});
  world_.Add(PolicyKind::kPartition, "shut", {{"Nodes", "n3"}, {"State", "DOWN"}});
  world_.Run(Tasks(4), "", "", "a", 60);
  const JobId job = world_.Run(Tasks(4), "", "", "a", 10);
  const auto suggestions =
      SuggestChanges(*BuildSnapshot(world_.state, world_.now), job, world_.config);
  std::string now;
  for (const Suggestion& suggestion : suggestions) {
    now += suggestion.start == world_.now ? suggestion.change + " " : "";
  }
  EXPECT_EQ(now, "--partition=b ");
}

TEST_F(PolicyFilterTest, AHeadThatWaitsInOnePartitionKeepsNobodyInAnotherWaiting) {
  world_.Add(PolicyKind::kPartition, "a", {{"Nodes", "n1"}});
  world_.Add(PolicyKind::kPartition, "b", {{"Nodes", "n2"}});
  world_.Run(Tasks(3), "", "", "a");
  const JobId head = world_.Run(Tasks(4), "", "", "a");
  const JobId behind = world_.Run(Tasks(1), "", "", "a");
  const JobId elsewhere = world_.Run(Tasks(1), "", "", "b");
  EXPECT_THAT(world_.StatusOf(head), StartsWith("Resources: "));
  EXPECT_EQ(world_.StatusOf(behind), "Priority: 1 job before it, first job 2");
  EXPECT_EQ(world_.StatusOf(elsewhere), "running");
}

TEST_F(PolicyFilterTest, APartitionSaysHowLongHowWideAndWho) {
  world_.Add(PolicyKind::kQos, "high", {});
  world_.Add(PolicyKind::kPartition, "p",
             {{"MaxTime", "60"}, {"DefaultTime", "10"}, {"MaxNodes", "2"}, {"DenyQos", "high"}});
  const JobId default_time = world_.Run(Tasks(1), "", "", "p");
  EXPECT_EQ(world_.state.FindJob(default_time)->spec->time_limit, std::chrono::minutes(10));
  EXPECT_EQ(world_.StatusOf(world_.Run(Tasks(1), "", "", "p", 90)),
            "PartitionTimeLimit: partition p allows 1:00:00, it asks 1:30:00");
  ResourceRequest wide = Tasks(3);
  wide.min_nodes = 3;
  EXPECT_EQ(world_.StatusOf(world_.Run(wide, "", "", "p", 10)),
            "PartitionNodeLimit: partition p gives at most 2 nodes to a job, it needs 3");
  JobSpec spec = world_.Spec(Tasks(1));
  spec.partition = "p";
  spec.qos = "high";
  EXPECT_EQ(world_.Refused(spec), "--partition: p is not for QOS high");
}

TEST_F(PolicyFilterTest, AClosedPartitionStartsOrTakesNothing) {
  world_.Add(PolicyKind::kPartition, "p", {{"State", "DOWN"}});
  const JobId job = world_.Run(Tasks(1), "", "", "p");
  EXPECT_EQ(world_.StatusOf(job), "PartitionDown: partition p is down");
  world_.Set(PolicyKind::kPartition, "p", {{"State", "DRAIN"}});
  JobSpec spec = world_.Spec(Tasks(1));
  spec.partition = "p";
  EXPECT_THAT(world_.Refused(spec), HasSubstr("p takes no submissions: it is drained"));
  world_.Schedule();
  EXPECT_EQ(world_.StatusOf(job), "running");
}

TEST_F(PolicyFilterTest, AnExclusivePartitionGivesWholeNodes) {
  world_.Add(PolicyKind::kPartition, "p", {{"Nodes", "n1"}, {"Exclusive", "yes"}});
  EXPECT_EQ(world_.StatusOf(world_.Run(Tasks(1), "", "", "p")), "running");
  EXPECT_THAT(world_.StatusOf(world_.Run(Tasks(1), "", "", "p")), StartsWith("Resources: "));
}

TEST_F(PolicyFilterTest, OnlyMembersUseAnAccountOnceThereAreMembers) {
  world_.Add(PolicyKind::kAccount, "physics", {});
  JobSpec spec = world_.Spec(Tasks(1));
  spec.account = "chem";
  EXPECT_THAT(world_.Refused(spec), HasSubstr("there is no account chem"));
  world_.Add(PolicyKind::kAssociation, "physics/bob", {});
  spec.account = "physics";
  EXPECT_EQ(world_.Refused(spec), "--account: ada is not in account physics");
  spec.user = world_.bob;
  spec.account = "";
  const JobId job = world_.Submit(spec);
  EXPECT_EQ(world_.state.FindJob(job)->spec->account, "physics");
}

TEST_F(PolicyFilterTest, NodesOfAnActiveReservationAreForThoseWhoNameIt) {
  world_.Add(
      PolicyKind::kReservation, "exam",
      {{"StartTime", Moment(-10)}, {"Duration", "60"}, {"Nodes", "n[1-2]"}, {"Users", "bob"}});
  EXPECT_EQ(NodesOf(world_.Run(Tasks(1))), "n3");
  const JobId other = world_.Run(Tasks(8));
  EXPECT_THAT(world_.StatusOf(other),
              StartsWith("Reservation: reservation exam, until " + Moment(50)));
  JobSpec spec = world_.Spec(Tasks(8));
  spec.reservation = "exam";
  EXPECT_EQ(world_.Refused(spec), "--reservation: exam is not for ada");
  spec.user = world_.bob;
  spec.time_limit = std::chrono::minutes(30);
  const JobId own = world_.Submit(spec);
  spec.time_limit = std::chrono::minutes(55);
  const JobId too_long = world_.Submit(spec);
  world_.Schedule();
  EXPECT_EQ(NodesOf(own), "n1,n2");
  EXPECT_THAT(world_.StatusOf(too_long), HasSubstr("exam is too short for the job's --time"));
}

TEST_F(PolicyFilterTest, NoJobStartsThatWouldRunIntoMaintenance) {
  world_.Add(PolicyKind::kReservation, "upgrade",
             {{"StartTime", Moment(30)}, {"Duration", "60"}, {"Nodes", "ALL"}, {"Flags", "MAINT"}});
  const JobId long_job = world_.Run(Tasks(1), "", "", "", 45);
  EXPECT_EQ(world_.StatusOf(long_job),
            "Reservation: reservation upgrade begins at " + Moment(30) +
                "; the job would still run by then: a shorter --time fits before it");
  EXPECT_EQ(world_.StatusOf(world_.Run(Tasks(1), "", "", "", 30)), "running");
  EXPECT_THAT(world_.StatusOf(world_.Run(Tasks(1))), StartsWith("Reservation: "));
  const Plan plan = world_.MakePlanNow();
  EXPECT_EQ(plan.wake, world_.now + std::chrono::minutes(30));
  world_.now += std::chrono::minutes(90);
  world_.Schedule();
  EXPECT_EQ(world_.StatusOf(long_job), "running");
}

TEST_F(PolicyFilterTest, ADailyReservationComesBack) {
  world_.Add(
      PolicyKind::kReservation, "night",
      {{"StartTime", Moment(0)}, {"Duration", "60"}, {"Nodes", "ALL"}, {"Flags", "MAINT,DAILY"}});
  world_.now += std::chrono::hours(23);
  EXPECT_EQ(world_.StatusOf(world_.Run(Tasks(1), "", "", "", 60)), "running");
  EXPECT_THAT(world_.StatusOf(world_.Run(Tasks(1), "", "", "", 61)), StartsWith("Reservation: "));
}

TEST_F(PolicyFilterTest, APlanMadeBeforeAReservationIsNotTakenAfterIt) {
  world_.Submit(Tasks(1));
  const Plan plan = world_.MakePlanNow();
  world_.Add(PolicyKind::kReservation, "now",
             {{"StartTime", Moment(0)}, {"Duration", "60"}, {"Nodes", "ALL"}, {"Flags", "MAINT"}});
  EXPECT_TRUE(world_.Take(TakePlan{plan}).events.empty());
}

TEST_F(PolicyFilterTest, APlanOfASnapshotWithPolicyVerifiesOnItsState) {
  world_.Add(PolicyKind::kQos, "q", {{"GrpTRES", "cpu=5"}});
  world_.Add(PolicyKind::kPartition, "a", {{"Nodes", "n[1-2]"}, {"Default", "yes"}});
  world_.Add(PolicyKind::kPartition, "b", {{"Nodes", "n[2-3]"}, {"QoS", "q"}});
  for (int i = 0; i < 6; ++i) {
    JobSpec spec = world_.Spec(Tasks(2));
    spec.partition = i % 3 == 0 ? "a" : i % 3 == 1 ? "b" : "b,a";
    world_.Submit(spec);
  }
  const Plan plan = world_.MakePlanNow();
  EXPECT_GE(plan.starts.size(), 4U);
  Verifier verifier(world_.state, world_.now);
  for (const PlannedStart& start : plan.starts) {
    EXPECT_TRUE(verifier.Accept(start)) << "job " << ToString(start.job);
  }
}

}  // namespace
}  // namespace muster::core
