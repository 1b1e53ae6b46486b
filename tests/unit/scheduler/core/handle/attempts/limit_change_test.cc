// Another time limit for a job that runs: who may give it, how much, and who hears of it.

#include "scheduler/core/handle/attempts/limit_change.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <chrono>

#include "scheduler/base/text/time_text.h"
#include "scheduler/core/policy/deadline.h"
#include "scheduler/core/state/invariants.h"
#include "scheduler/core/state/tables/attempt.h"
#include "tests/unit/scheduler/core/policy_world.h"

namespace muster::core {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::HasSubstr;
using testing::Only;
using testing::PolicyWorld;
using ::testing::StartsWith;
using testing::Tasks;

constexpr Duration kEndless = std::chrono::hours(24 * 36525);
const User kRoot{0, 0, "root"};

// A job with an hour that has run for ten minutes.
class LimitChange : public ::testing::Test {
 protected:
  LimitChange() { node_ = world_.AddNode("n1", {.cores = 8, .gpus = 2}); }

  void Run(const JobSpec& spec) {
    job_ = world_.Submit(spec);
    world_.Schedule();
    ASSERT_TRUE(Of().attempt.has_value());
    world_.TellStarted(node_, job_);
    world_.now += minutes(10);
  }
  JobSpec Hour() const {
    JobSpec spec = world_.Spec(Tasks(1));
    spec.time_limit = minutes(60);
    return spec;
  }
  JobSpec HourWithGpu() const {
    ResourceRequest request = Tasks(1);
    request.gpus_per_node.count = 1;
    JobSpec spec = world_.Spec(request);
    spec.time_limit = minutes(60);
    return spec;
  }
  const Job& Of() const { return *world_.state.FindJob(job_); }
  Transition Ask(Duration limit, const User& by, bool force = false) {
    JobUpdate changes;
    changes.time_limit = limit;
    return world_.Take(UpdateJob{job_, std::nullopt, changes, {}, by, force});
  }
  std::string Refused(Duration limit, const User& by, bool force = false) {
    const std::shared_ptr<const JobSpec> before = Of().spec;
    const Transition transition = Ask(limit, by, force);
    EXPECT_FALSE(transition.status.ok());
    EXPECT_EQ(*Of().spec, *before);
    return std::string(transition.status.message());
  }
  void Save(std::uint64_t count, Duration restart) {
    CheckpointRecord record;
    record.count = count;
    record.restart = restart;
    world_.Tell(node_, job_, ++index_, RunCheckpointed{world_.now, record});
  }

  PolicyWorld world_;
  NodeId node_;
  JobId job_;
  std::uint64_t index_ = 1;  // of the newest report
};

TEST_F(LimitChange, AnOperatorGivesARunningJobMoreAndItsNodesHearOfIt) {
  Run(Hour());
  const Transition transition = Ask(minutes(90), kRoot);
  ASSERT_TRUE(transition.status.ok()) << transition.status;
  EXPECT_EQ(Of().spec->time_limit, minutes(90));
  EXPECT_EQ(Of().attempt->advice.time_limit, minutes(90));
  EXPECT_EQ(Of().attempt->advice.number, kFirstAdvice + 1);
  EXPECT_EQ(Only<Advise>(transition).size(), 1U);
  EXPECT_EQ(world_.MakePlanNow().waiting.size(), 0U);
}

TEST_F(LimitChange, WhatWaitsIsPlannedBehindTheNewEnd) {
  Run(Hour());
  JobSpec spec = world_.Spec(Tasks(8));
  spec.time_limit = minutes(10);
  const JobId next = world_.Submit(spec);
  world_.Schedule();
  const Time first = testing::At(1000) + minutes(60);
  EXPECT_EQ(world_.ReasonFor(next).until, first);
  ASSERT_TRUE(Ask(minutes(90), kRoot).status.ok());
  EXPECT_EQ(world_.ReasonFor(next).until, first + minutes(30));
  ASSERT_TRUE(Ask(minutes(20), kRoot).status.ok());
  EXPECT_EQ(world_.ReasonFor(next).until, first - minutes(40));
}

TEST_F(LimitChange, NoLimitIsToldAsTheLongest) {
  Run(Hour());
  ASSERT_TRUE(Ask(kEndless, kRoot).status.ok());
  EXPECT_EQ(Of().attempt->advice.time_limit, Duration::max());
  EXPECT_FALSE(HasLimit(*Of().spec));
  ASSERT_TRUE(Ask(minutes(30), world_.ada).status.ok()) << "shorter again, by its owner";
  EXPECT_EQ(Of().attempt->advice.time_limit, minutes(30));
}

TEST_F(LimitChange, ItsOwnerShortensItAndGivesItMoreOnlyWhereThatIsAllowed) {
  Run(Hour());
  EXPECT_TRUE(Ask(minutes(30), world_.ada).status.ok());
  EXPECT_EQ(Ask(minutes(60), world_.ada).status.code(), absl::StatusCode::kPermissionDenied)
      << "also back to what it had";
  EXPECT_THAT(Refused(minutes(60), world_.ada), HasSubstr("only an operator"));
  EXPECT_THAT(Refused(kEndless, world_.ada), HasSubstr("only an operator"));
  EXPECT_EQ(Ask(minutes(20), world_.bob).status.code(), absl::StatusCode::kPermissionDenied);
  world_.config.checkpoint.owners_extend = true;
  EXPECT_TRUE(Ask(minutes(90), world_.ada).status.ok());
  EXPECT_THAT(Refused(minutes(95), world_.bob), HasSubstr("belongs to ada"));
}

TEST_F(LimitChange, ALimitIsNotBelowWhatWasUsed) {
  Run(Hour());
  EXPECT_EQ(Refused(minutes(10), world_.ada),
            "job 1: has run for 600 s already; give it more, or end it with muster cancel");
  EXPECT_TRUE(Ask(minutes(10) + seconds(1), world_.ada).status.ok());
}

TEST_F(LimitChange, WhatWasSpentSuspendedWasNotUsed) {
  Run(Hour());
  ASSERT_TRUE(world_.Take(SuspendJob{job_, std::nullopt, true, kRoot}).status.ok());
  world_.Tell(node_, job_, 2, RunSuspended{world_.now, 1, false});
  world_.now += minutes(30);
  EXPECT_THAT(Refused(minutes(10), world_.ada), HasSubstr("has run for 600 s"));
  EXPECT_TRUE(Ask(minutes(11), world_.ada).status.ok());
}

TEST_F(LimitChange, AJobThatIsEndingKeepsItsLimit) {
  Run(Hour());
  ASSERT_TRUE(world_.Take(CancelJob{job_, std::nullopt, world_.ada}).status.ok());
  EXPECT_THAT(Refused(minutes(90), kRoot), HasSubstr("is ending"));
}

TEST_F(LimitChange, AJobWithGpusNeedsACheckpointFirst) {
  Run(HourWithGpu());
  EXPECT_THAT(Refused(minutes(90), kRoot),
              StartsWith("job 1: has made no checkpoint in this attempt, and jobs with GPUs are "
                         "given more time only once they have one"));
  EXPECT_TRUE(Ask(minutes(50), kRoot).status.ok()) << "less needs none";
  Save(0, Duration(0));
  EXPECT_FALSE(Ask(minutes(90), kRoot).status.ok());
  Save(1, Duration(0));
  EXPECT_TRUE(Ask(minutes(90), kRoot).status.ok());
}

TEST_F(LimitChange, OneThatCameBackFromACheckpointHasOne) {
  Run(HourWithGpu());
  Save(0, seconds(20));
  EXPECT_TRUE(Ask(minutes(90), kRoot).status.ok());
}

TEST_F(LimitChange, AnOperatorForcesIt) {
  world_.config.checkpoint.owners_extend = true;
  Run(HourWithGpu());
  EXPECT_EQ(Refused(minutes(90), world_.ada, true), "--force: is for operators");
  EXPECT_TRUE(Ask(minutes(90), kRoot, true).status.ok());
}

TEST_F(LimitChange, TheRuleSaysWhomItCovers) {
  world_.config.checkpoint.extension = ExtensionRule::kNone;
  Run(HourWithGpu());
  EXPECT_TRUE(Ask(minutes(90), kRoot).status.ok());
  world_.config.checkpoint.extension = ExtensionRule::kAll;
  Run(Hour());
  EXPECT_THAT(Refused(minutes(90), kRoot), HasSubstr("jobs are given more time only"));
  world_.config.checkpoint.extension = ExtensionRule::kGpu;
  EXPECT_TRUE(Ask(minutes(90), kRoot).status.ok());
}

TEST_F(LimitChange, ItStaysWithinPartitionQosAndAccount) {
  world_.Add(PolicyKind::kPartition, "p",
             {{"Nodes", "ALL"}, {"MaxTime", "80"}, {"Default", "YES"}});
  world_.Add(PolicyKind::kQos, "q", {{"MaxWall", "75"}});
  world_.Add(PolicyKind::kAccount, "physics", {{"GrpWall", "70"}});
  JobSpec spec = Hour();
  Run(spec);
  EXPECT_THAT(Refused(minutes(81), kRoot), StartsWith("job 1: PartitionTimeLimit: "));
  EXPECT_THAT(Refused(kEndless, kRoot), StartsWith("job 1: PartitionTimeLimit: "));
  EXPECT_TRUE(Ask(minutes(80), kRoot).status.ok());
  spec.qos = "q";
  Run(spec);
  EXPECT_THAT(Refused(minutes(76), kRoot), StartsWith("job 2: QOSMaxWallDurationPerJobLimit: "));
  EXPECT_TRUE(Ask(minutes(75), kRoot).status.ok());
  spec.qos = "";
  spec.account = "physics";
  Run(spec);
  EXPECT_THAT(Refused(minutes(71), kRoot), StartsWith("job 3: AssocGrpWallLimit: "));
  EXPECT_TRUE(Ask(minutes(70), kRoot).status.ok());
  EXPECT_THAT(Refused(minutes(71), kRoot), StartsWith("job 3: AssocGrpWallLimit: "))
      << "what it was given counts";
  EXPECT_TRUE(Ask(minutes(30), kRoot).status.ok());
  EXPECT_TRUE(Ask(minutes(70), kRoot).status.ok()) << "what it gave back does not";
}

TEST_F(LimitChange, ItDoesNotPassTheDeadlineOrIntoAReservation) {
  JobSpec spec = Hour();
  spec.deadline = world_.now + minutes(90);
  Run(spec);
  EXPECT_EQ(Refused(minutes(91), kRoot), "job 1: its --deadline ends it in 4800 s already");
  EXPECT_TRUE(Ask(minutes(90), kRoot).status.ok());
  world_.Add(PolicyKind::kReservation, "fans",
             {{"Nodes", "ALL"},
              {"Flags", "MAINT"},
              {"StartTime", MomentText(world_.now + minutes(120))},
              {"Duration", "60"}});
  Run(Hour());
  EXPECT_EQ(Refused(minutes(300), kRoot),
            "job 2: would run into reservation fans on n1, which begins in 6600 s");
  EXPECT_TRUE(Ask(minutes(100), kRoot).status.ok());
}

TEST_F(LimitChange, OneOfSeveralAlternativesKeepsTheOthersAsTheyWere) {
  JobSpec spec = Hour();
  spec.alternatives = {{spec.request, spec.time_limit}, {Tasks(2), minutes(20)}};
  Run(spec);
  const std::vector<Alternative> before = Of().spec->alternatives;
  ASSERT_TRUE(Ask(minutes(90), kRoot).status.ok());
  EXPECT_EQ(Of().spec->time_limit, minutes(90));
  EXPECT_EQ(Of().spec->alternatives, before);
}

TEST_F(LimitChange, AnAnswerThatIsOwedIsStillOwedAndOneThatWasGivenIsNot) {
  Run(Hour());
  ASSERT_TRUE(world_.Take(DrainNode{"n1", true, "fans"}).status.ok());
  ASSERT_TRUE(Ask(minutes(90), kRoot).status.ok());
  EXPECT_EQ(Of().attempt->advice.notice, CheckpointNotice::kDrain);
  CheckpointRecord record;
  record.count = 1;
  record.notice = Of().attempt->advice.number;
  world_.Tell(node_, job_, 2, RunCheckpointed{world_.now, record});
  ASSERT_TRUE(Ask(minutes(95), kRoot).status.ok());
  EXPECT_EQ(Of().attempt->advice.notice, CheckpointNotice::kNone);
  EXPECT_EQ(Of().attempt->advice.time_limit, minutes(95));
}

TEST_F(LimitChange, ItIsToldAgainToANodeThatTookTheLaunchAndCouldNotSaySo) {
  job_ = world_.Submit(Hour());
  world_.Schedule();
  world_.Take(LoseAgent{node_});
  ASSERT_TRUE(Ask(minutes(90), kRoot).status.ok());
  Registration again = PolicyWorld::RegistrationOf("n1", {.cores = 8, .gpus = 2});
  again.attempts = {
      KnownAttempt{job_, Of().attempt->number, false, Of().attempt->allocation.nodes[0]}};
  EXPECT_EQ(Only<Advise>(world_.Take(RegisterAgent{again})).size(), 1U);
}

TEST_F(LimitChange, WhateverIsAskedTheLimitLiesBehindWhatWasUsedAndTheStateHolds) {
  EXPECT_TRUE(rc::check([&] {
    PolicyWorld world;
    const NodeId node = world.AddNode("n1", {.cores = 8});
    world.Add(PolicyKind::kQos, "normal", {{"MaxWall", "100"}});
    world.Add(PolicyKind::kAccount, "physics", {{"GrpWall", "150"}});
    world.config.checkpoint.owners_extend = *rc::gen::arbitrary<bool>();
    JobSpec spec = world.Spec(Tasks(1));
    spec.account = "physics";
    spec.time_limit = minutes(*rc::gen::inRange(1, 90));
    const JobId job = world.Submit(spec);
    world.Schedule();
    world.TellStarted(node, job);
    for (int i = 0; i < 10; ++i) {
      world.now += minutes(*rc::gen::inRange(0, 3));
      const Job& before = *world.state.FindJob(job);
      const Duration old = before.spec->time_limit;
      JobUpdate changes;
      changes.time_limit = minutes(*rc::gen::inRange(1, 200));
      const User by = *rc::gen::element(kRoot, world.ada, world.bob);
      const Transition transition = world.Take(UpdateJob{job, std::nullopt, changes, {}, by});
      const Duration limit = world.state.FindJob(job)->spec->time_limit;
      RC_ASSERT(limit == (transition.status.ok() ? *changes.time_limit : old));
      RC_ASSERT(!transition.status.ok() || limit == old || limit > world.now - testing::At(1000));
      RC_ASSERT(!transition.status.ok() || limit <= old || limit <= minutes(100));
      RC_ASSERT(!transition.status.ok() || limit <= old || by.uid == 0 ||
                (by.uid == world.ada.uid && world.config.checkpoint.owners_extend));
      RC_ASSERT(!BrokenInvariant(world.state).has_value());
    }
  }));
}

}  // namespace
}  // namespace muster::core
