// Suspending and resuming: what a suspended job keeps and gives, and when it comes back.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scheduler/core/policy/kill_grace.h"
#include "scheduler/core/state/actions.h"
#include "tests/unit/scheduler/core/policy_world.h"

namespace muster::core {
namespace {

using std::chrono::minutes;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::Only;
using testing::PolicyWorld;
using testing::Shape;
using testing::Tasks;
using testing::World;

class SuspensionTest : public ::testing::Test {
 protected:
  void SetUp() override { node_ = world_.AddNode("n1"); }  // four cores

  Transition Suspend(JobId job) { return world_.Take(SuspendJob{job, std::nullopt, true, root_}); }
  Transition Resume(JobId job) { return world_.Take(SuspendJob{job, std::nullopt, false, root_}); }
  // A job that runs.
  JobId Run(std::uint32_t tasks, const std::string& qos = "", int limit = 0) {
    const JobId job = world_.Run(Tasks(tasks), qos, "", "", limit);
    EXPECT_TRUE(world_.state.FindJob(job)->attempt.has_value());
    told_[job] = 0;
    Tell(job, RunStarted());
    return job;
  }
  JobId Wait(std::uint32_t tasks, const std::string& qos = "", int limit = 10) {
    JobSpec spec = world_.Spec(Tasks(tasks));
    spec.qos = qos;
    spec.time_limit = minutes(limit);
    return world_.Submit(spec);
  }
  Transition Tell(JobId job, Fact fact) {
    return world_.Tell(node_, job, ++told_[job], std::move(fact));
  }
  // The node says that it has done what it was told last.
  Transition TellFrozen(JobId job) {
    return Tell(job, RunSuspended{world_.now, Its(job).suspension, false});
  }
  JobId RunSuspendedJob(std::uint32_t tasks, int limit = 0) {
    const JobId job = Run(tasks, "", limit);
    Suspend(job);
    TellFrozen(job);
    return job;
  }
  void End(JobId job) { Tell(job, RunEnded()); }
  const Attempt& Its(JobId job) const { return *world_.state.FindJob(job)->attempt; }
  JobState StateOf(JobId job) const { return world_.StateOf(job); }
  NodeUse Taken() const { return world_.state.FindNode(node_)->taken; }
  void PreemptBySuspending() {
    world_.Add(PolicyKind::kQos, "low", {{"PreemptMode", "SUSPEND"}});
    world_.Add(PolicyKind::kQos, "high", {{"Preempt", "low"}});
  }

  const User root_{0, 0, "root"};
  PolicyWorld world_;
  NodeId node_;
  std::map<JobId, std::uint64_t> told_;
};

TEST_F(SuspensionTest, AJobGivesItsCoresOnceItsNodesSayThatItIsFrozen) {
  const JobId job = Run(4);
  const Bytes memory = Taken().memory;
  const Transition transition = Suspend(job);
  ASSERT_TRUE(transition.status.ok()) << transition.status;
  EXPECT_THAT(Only<muster::Suspend>(transition),
              ElementsAre(muster::Suspend{job, AttemptNumber(1), node_, 1}));
  EXPECT_EQ(StateOf(job), JobState::kSuspended);
  EXPECT_EQ(Taken().cpus.Count(), 4U) << "nobody knows yet that nothing of it runs";
  TellFrozen(job);
  EXPECT_TRUE(Taken().cpus.Empty());
  EXPECT_EQ(Taken().memory, memory) << "it keeps its memory";
}

TEST_F(SuspensionTest, TheVeryCoresComeBackAndOnlyWhenTheyAreFree) {
  ResourceRequest request = Tasks(4);
  request.memory_per_node = kGibibyte;
  const JobId job = world_.Run(request);
  Tell(job, RunStarted());
  const CpuSet own = Its(job).allocation.nodes[0].cpus;
  Suspend(job);
  TellFrozen(job);
  request.tasks = 2;
  const JobId other = world_.Run(request);
  Tell(other, RunStarted());
  ASSERT_EQ(StateOf(other), JobState::kRunning);
  ASSERT_TRUE(Resume(job).status.ok());
  world_.Schedule();
  EXPECT_EQ(StateOf(job), JobState::kSuspended);
  EXPECT_EQ(ToSentence(world_.ReasonFor(job)),
            "2 of its 4 CPUs on n1 taken by job " + ToString(other));
  End(other);
  const Transition transition = world_.Schedule();
  EXPECT_THAT(Only<muster::Resume>(transition),
              ElementsAre(muster::Resume{job, AttemptNumber(1), node_, 2}));
  EXPECT_EQ(StateOf(job), JobState::kRunning);
  EXPECT_EQ(Taken().cpus, own);
}

TEST_F(SuspensionTest, OneThatAnOperatorSuspendedWaitsToBeAskedBack) {
  const JobId job = RunSuspendedJob(4);
  EXPECT_THAT(world_.MakePlanNow().resumes, IsEmpty());
  EXPECT_THAT(world_.MakePlanNow().waiting, IsEmpty());
  Resume(job);
  EXPECT_THAT(world_.MakePlanNow().resumes, ElementsAre(PlannedResume{job, AttemptNumber(1)}));
}

TEST_F(SuspensionTest, OneThatIsAskedBackBeforeItIsFrozenRunsOn) {
  const JobId job = Run(4);
  Suspend(job);
  Resume(job);
  world_.Schedule();
  EXPECT_EQ(StateOf(job), JobState::kRunning);
  Tell(job, RunSuspended{world_.now, 1, false});  // of the suspension that is over
  EXPECT_EQ(StateOf(job), JobState::kRunning);
  EXPECT_EQ(Taken().cpus.Count(), 4U);
  EXPECT_EQ(Its(job).suspended_total, Duration(0));
  EXPECT_THAT(Its(job).suspensions, IsEmpty());
}

TEST_F(SuspensionTest, EachTimeInWhichItsCoresWereGivenBackIsKept) {
  const JobId job = RunSuspendedJob(4);
  const Time first = world_.now;
  EXPECT_THAT(Its(job).suspensions, ElementsAre(Suspension{first, kNoTime, "suspended by root"}));
  world_.now += minutes(5);
  Resume(job);
  world_.Schedule();
  world_.now += minutes(1);
  const Time second = world_.now;
  Suspend(job);
  TellFrozen(job);
  EXPECT_THAT(Its(job).suspensions,
              ElementsAre(Suspension{first, first + minutes(5), "suspended by root"},
                          Suspension{second, kNoTime, "suspended by root"}));
}

TEST_F(SuspensionTest, OneThatIsFrozenAfterItWasAskedBackDoesNotCallThatTheReason) {
  const JobId job = Run(4);
  Suspend(job);
  Resume(job);
  TellFrozen(job);
  EXPECT_THAT(Its(job).suspensions, ElementsAre(Suspension{world_.now, kNoTime, ""}));
}

TEST_F(SuspensionTest, OfVeryManySuspensionsTheLastAreKept) {
  const JobId job = Run(4);
  Time last = kNoTime;
  for (std::size_t i = 0; i < kSuspensionsKept + 3; ++i) {
    world_.now += minutes(1);
    last = world_.now;
    Suspend(job);
    TellFrozen(job);
    Resume(job);
    world_.Schedule();
  }
  ASSERT_EQ(Its(job).suspensions.size(), kSuspensionsKept);
  EXPECT_EQ(Its(job).suspensions.back().begin, last);
  EXPECT_EQ(Its(job).suspensions.front().begin, last - minutes(kSuspensionsKept - 1));
}

TEST_F(SuspensionTest, JobsThatComeAfterDoNotKeepItWaiting) {
  ResourceRequest request = Tasks(4);
  request.memory_per_node = kGibibyte;
  const JobId job = world_.Run(request, "", "", "", 60);
  Tell(job, RunStarted());
  Suspend(job);
  TellFrozen(job);
  request.tasks = 1;
  const JobId other = world_.Run(request, "", "", "", 10);
  Tell(other, RunStarted());
  Resume(job);
  JobSpec spec = world_.Spec(request);
  spec.time_limit = minutes(60);
  const JobId third = world_.Submit(spec);
  world_.Schedule();
  EXPECT_EQ(StateOf(third), JobState::kPending) << "three cores are free, and kept";
  End(other);
  world_.Schedule();
  EXPECT_EQ(StateOf(job), JobState::kRunning);
}

TEST_F(SuspensionTest, TheTimeIsNeitherChargedNorCountedInTheLimit) {
  world_.Add(PolicyKind::kAccount, "physics", {{"GrpTRESMins", "cpu=10000"}});
  const JobId job = world_.Run(Tasks(4), "", "physics", "", 60);
  Tell(job, RunStarted());
  world_.now += minutes(10);
  Suspend(job);
  TellFrozen(job);
  world_.now += minutes(100);
  Resume(job);
  world_.Schedule();
  EXPECT_EQ(Its(job).suspended_total, Duration(minutes(100)));
  EXPECT_EQ(BuildSnapshot(world_.state, world_.now)->nodes[0].holdings[0].ends,
            world_.now + minutes(50));
  world_.now += minutes(5);
  End(job);
  const auto& spent = world_.state.policy().snapshot().usage.spent;
  ASSERT_EQ(spent.size(), 1U);
  EXPECT_EQ(spent.begin()->second.tres.cpus, 4U * 15 * 60);
  EXPECT_EQ(spent.begin()->second.wall, 15U * 60);
}

TEST_F(SuspensionTest, UsageIsChargedForTheTimeThatItHeldItsCores) {
  const JobId job = Run(4);
  const Job before = *world_.state.FindJob(job);
  world_.now += minutes(10);
  Suspend(job);
  TellFrozen(job);
  world_.now += minutes(30);
  End(job);  // killed from outside while it was frozen
  UsageTable same;
  same.SetHalfLife(world_.config.priority.half_life, world_.now);
  Job later = before;
  later.attempt->started += minutes(30);
  same.Charge(later, world_.now);
  ASSERT_EQ(same.TakeSnapshot().used.size(), 1U);
  EXPECT_EQ(world_.state.usage().TakeSnapshot().used, same.TakeSnapshot().used);
}

TEST_F(SuspensionTest, ItsMemoryIsPlannedAsTakenForEverUntilItIsAskedBack) {
  ResourceRequest request = Tasks(2);
  request.memory_per_node = world_.state.FindNode(node_)->machine->memory;
  const JobId job = world_.Run(request, "", "", "", 10);
  Tell(job, RunStarted());
  Suspend(job);
  TellFrozen(job);
  const JobId next = Wait(1);
  EXPECT_EQ(world_.ReasonFor(next).until, kNoTime);
  Resume(job);
  EXPECT_EQ(world_.ReasonFor(next).until, world_.now + minutes(10));
}

TEST_F(SuspensionTest, ASuspendedJobCanBeCancelledAndRequeued) {
  const JobId job = RunSuspendedJob(4);
  const Transition transition = world_.Take(CancelJob{job, std::nullopt, world_.ada});
  EXPECT_EQ(Only<Terminate>(transition).size(), 1U);
  EXPECT_THAT(Only<muster::Suspend>(transition), IsEmpty());
  EXPECT_EQ(StateOf(job), JobState::kCompleting);
  EXPECT_TRUE(Taken().cpus.Empty()) << "it ends on cores that may be another's by now";
  End(job);
  EXPECT_EQ(world_.EndOf(job)->state, JobState::kCompleted);
  EXPECT_TRUE(Taken().memory.zero());

  const JobId again = RunSuspendedJob(4);
  world_.Take(RequeueJob{again, std::nullopt, world_.ada});
  End(again);
  EXPECT_EQ(StateOf(again), JobState::kPending);
  EXPECT_FALSE(world_.state.FindJob(again)->attempt.has_value());
}

TEST_F(SuspensionTest, AJobWhoseNodeKnowsOfASuspensionThatTheStateDoesNotIsEnded) {
  const JobId runs = Run(1);
  const Transition frozen = Tell(runs, RunSuspended{world_.now, 1, false});
  EXPECT_EQ(Only<Terminate>(frozen).size(), 1U);
  EXPECT_THAT(Only<muster::Resume>(frozen), IsEmpty()) << "another may have its cores";
  EXPECT_EQ(Its(runs).suspension, 2U);
  EXPECT_EQ(StateOf(runs), JobState::kCompleting);
  RunEnded ended;
  ended.cause = EndCause::kNodeLostRecord;
  Tell(runs, ended);
  EXPECT_EQ(world_.EndOf(runs)->state, JobState::kNodeFail);
  EXPECT_THAT(world_.EndOf(runs)->text, HasSubstr("suspended or resumed since"));

  const JobId suspended = RunSuspendedJob(1);
  EXPECT_EQ(Only<Terminate>(Tell(suspended, RunSuspended{world_.now, 2, true})).size(), 1U);
  Tell(suspended, RunSuspended{world_.now, UINT32_MAX, true});
  EXPECT_EQ(Its(suspended).suspension, 3U) << "no node has carried out so many";
}

// The copy has the job as suspended and its cores as given back; the node was told to resume it.
TEST_F(SuspensionTest, WhatWasResumedSinceTheCopyOfTheStateKeepsItsCoresUntilItIsOver) {
  const JobId job = RunSuspendedJob(4);
  const NodeAllocation part = Its(job).allocation.nodes[0];
  const Epoch seen = world_.state.epoch();
  world_.Take(BeginEpoch{.restored = true});
  const auto back = [&](bool frozen) {
    Registration registration = World::RegistrationOf("n1", Shape());
    registration.epoch_seen = seen;
    registration.attempts = {KnownAttempt{job, AttemptNumber(1), false, part, frozen}};
    return world_.Take(RegisterAgent{registration});
  };
  EXPECT_THAT(Only<Terminate>(back(true)), IsEmpty()) << "it is as the copy says";
  EXPECT_TRUE(Taken().cpus.Empty());
  EXPECT_EQ(Only<Terminate>(back(false)).size(), 1U);
  EXPECT_EQ(StateOf(job), JobState::kCompleting);
  EXPECT_EQ(Taken().cpus, part.cpus);
  EXPECT_EQ(Taken().memory, part.memory) << "counted once";
  back(false);
  world_.Take(DrainNode{"n1", false, ""});
  const JobId next = Wait(1);
  world_.Schedule();
  EXPECT_EQ(StateOf(next), JobState::kPending) << "before its reports have come";
  Tell(job, RunSuspended{world_.now, 2, true});
  world_.Schedule();
  EXPECT_EQ(StateOf(next), JobState::kPending);
  RunEnded ended;
  ended.cause = EndCause::kNodeLostRecord;
  Tell(job, ended);
  EXPECT_EQ(world_.EndOf(job)->state, JobState::kNodeFail);
  EXPECT_TRUE(Taken().cpus.Empty());
  world_.Schedule();
  EXPECT_EQ(StateOf(next), JobState::kConfiguring);
}

TEST_F(SuspensionTest, OnlyOperatorsSuspendAndOnlyWhatRuns) {
  const JobId job = Run(2);
  const auto refusal = [&](JobId which, bool suspended, const User& by) {
    return std::string(
        world_.Take(SuspendJob{which, std::nullopt, suspended, by}).status.message());
  };
  EXPECT_THAT(refusal(job, true, world_.bob), HasSubstr("only an operator suspends jobs"));
  EXPECT_THAT(refusal(job, false, root_), HasSubstr("is not suspended"));
  const JobId waiting = Wait(4);
  EXPECT_THAT(refusal(waiting, true, root_), HasSubstr("has not started; muster hold"));
  EXPECT_THAT(refusal(JobId(99), true, root_), HasSubstr("no such job"));
  Suspend(job);
  EXPECT_TRUE(Suspend(job).events.empty()) << "asked twice, done once";
}

TEST_F(SuspensionTest, AStepNeedsTheJobRunning) {
  const JobId job = RunSuspendedJob(2);
  const Transition transition =
      world_.Take(StartStep{"s", job, StepSpec(), testing::TrueProgram(), world_.ada});
  EXPECT_THAT(std::string(transition.status.message()), HasSubstr("is SUSPENDED"));
}

TEST_F(SuspensionTest, ANodeThatComesBackIsToldAgainUntilItSaysThatItIsDone) {
  const JobId job = Run(2);
  Suspend(job);
  EXPECT_EQ(ActionsFor(*world_.state.FindJob(job)),
            (std::vector<Effect>{muster::Suspend{job, AttemptNumber(1), node_, 1}}));
  TellFrozen(job);
  EXPECT_THAT(ActionsFor(*world_.state.FindJob(job)), IsEmpty());
}

TEST_F(SuspensionTest, AVictimWhoseModeIsSuspendComesBackByItself) {
  PreemptBySuspending();
  ResourceRequest request = Tasks(4);
  request.memory_per_node = kGibibyte;
  const JobId victim = world_.Run(request, "low");
  Tell(victim, RunStarted());
  world_.now += minutes(1);
  JobSpec spec = world_.Spec(request);
  spec.qos = "high";
  spec.time_limit = minutes(10);
  const JobId job = world_.Submit(spec);
  world_.Schedule();
  EXPECT_EQ(StateOf(victim), JobState::kSuspended);
  EXPECT_EQ(Its(victim).suspended_text, "preempted by job " + ToString(job));
  EXPECT_THAT(world_.MakePlanNow().preemptions, IsEmpty()) << "nobody gives way twice";
  TellFrozen(victim);
  world_.Schedule();
  EXPECT_EQ(StateOf(job), JobState::kConfiguring);
  Tell(job, RunStarted());
  // Whoever may not have it suspended comes after it.
  spec.qos = "";
  const JobId third = world_.Submit(spec);
  world_.Schedule();
  EXPECT_EQ(StateOf(third), JobState::kPending);
  End(job);
  world_.Schedule();
  EXPECT_EQ(StateOf(victim), JobState::kRunning);
  EXPECT_EQ(StateOf(third), JobState::kPending);
}

TEST_F(SuspensionTest, AJobThatNeedsTheVictimsMemoryTooHasNobodySuspended) {
  PreemptBySuspending();
  ResourceRequest request = Tasks(4);
  request.memory_per_node = world_.state.FindNode(node_)->machine->memory;
  const JobId victim = world_.Run(request, "low");
  Tell(victim, RunStarted());
  world_.now += minutes(1);
  request.memory_per_node = kGibibyte;
  JobSpec spec = world_.Spec(request);
  spec.qos = "high";
  spec.time_limit = minutes(10);
  world_.Submit(spec);
  EXPECT_THAT(world_.MakePlanNow().preemptions, IsEmpty());
}

TEST_F(SuspensionTest, AnotherThatMayPreemptItGoesBeforeItsReturn) {
  PreemptBySuspending();
  ResourceRequest request = Tasks(4);
  request.memory_per_node = kGibibyte;
  const JobId victim = world_.Run(request, "low");
  Tell(victim, RunStarted());
  world_.now += minutes(1);
  JobSpec spec = world_.Spec(request);
  spec.qos = "high";
  spec.time_limit = minutes(10);
  const JobId first = world_.Submit(spec);
  const JobId second = world_.Submit(spec);
  world_.Schedule();
  TellFrozen(victim);
  world_.Schedule();
  Tell(first, RunStarted());
  End(first);
  world_.Schedule();
  EXPECT_EQ(StateOf(second), JobState::kConfiguring);
  EXPECT_EQ(StateOf(victim), JobState::kSuspended);
}

TEST_F(SuspensionTest, AVictimHasTheGraceTimeOfItsQos) {
  world_.Add(PolicyKind::kQos, "low", {{"GraceTime", "120"}});
  const SitePolicy& site = world_.state.policy().site();
  JobSpec spec = world_.Spec(Tasks(1));
  spec.kill_grace = std::chrono::seconds(30);
  spec.qos = "low";
  EXPECT_EQ(KillGraceOf(site, spec, EndCause::kPreempted, world_.config),
            Duration(site.qos.at("low").grace_time));
  EXPECT_EQ(KillGraceOf(site, spec, EndCause::kPreemptedToRequeue, world_.config),
            Duration(site.qos.at("low").grace_time));
  EXPECT_EQ(KillGraceOf(site, spec, EndCause::kCancelled, world_.config), std::chrono::seconds(30));
  spec.qos = "";
  EXPECT_EQ(KillGraceOf(site, spec, EndCause::kPreempted, world_.config), std::chrono::seconds(30));
}

}  // namespace
}  // namespace muster::core
