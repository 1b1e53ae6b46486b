#include "scheduler/core/handle/job_handlers.h"

#include <gtest/gtest.h>

#include "scheduler/model/change/actor.h"
#include "tests/unit/scheduler/core/builders.h"

namespace muster::core {
namespace {

using testing::At;
using testing::Only;
using testing::Tasks;
using testing::World;

class JobHandlersTest : public ::testing::Test {
 protected:
  JobHandlersTest() { node = world.AddNode("n1"); }

  absl::Status Requeue(JobId job) {
    return world.Take(RequeueJob{job, std::nullopt, world.ada}).status;
  }
  absl::Status Update(JobId job, JobUpdate changes, const User& by) {
    return world.Take(UpdateJob{job, std::nullopt, std::move(changes), {}, by}).status;
  }
  absl::Status Update(JobId job, JobUpdate changes) {
    return Update(job, std::move(changes), world.ada);
  }
  // Runs the job once more and sends it back.
  void RunAndRequeue(JobId job) {
    world.Schedule();
    ASSERT_TRUE(world.state.FindJob(job)->attempt.has_value());
    world.TellStarted(node, job);
    ASSERT_TRUE(Requeue(job).ok());
    world.TellEnded(node, job, 2, EndCause::kRequeued);
  }

  World world;
  NodeId node;
};

TEST_F(JobHandlersTest, ARequeuedJobEndsItsAttemptAndWaitsAgain) {
  const JobId job = world.Submit(Tasks(1));
  world.Schedule();
  world.TellStarted(node, job);
  const Transition transition = world.Take(RequeueJob{job, std::nullopt, world.ada});
  ASSERT_EQ(Only<Terminate>(transition).size(), 1U);
  EXPECT_EQ(Only<Terminate>(transition).front().cause, EndCause::kRequeued);
  EXPECT_EQ(world.StateOf(job), JobState::kCompleting);
  world.TellEnded(node, job, 2, EndCause::kRequeued);
  EXPECT_EQ(world.StateOf(job), JobState::kPending);
  EXPECT_EQ(world.state.FindNode(node)->taken.cpus, CpuSet());
  world.Schedule();
  EXPECT_EQ(world.state.FindJob(job)->attempt->number, AttemptNumber(2));
}

TEST_F(JobHandlersTest, AJobThatEndsToBeRequeuedCanBeHeldMeanwhile) {
  const JobId job = world.Submit(Tasks(1));
  world.Schedule();
  world.TellStarted(node, job);
  EXPECT_EQ(world.Take(HoldJob{job, std::nullopt, true, world.ada}).status.code(),
            absl::StatusCode::kFailedPrecondition);
  ASSERT_TRUE(Requeue(job).ok());
  EXPECT_EQ(world.Take(HoldJob{job, std::nullopt, true, world.ada}).count, 1U);
  world.TellEnded(node, job, 2, EndCause::kRequeued);
  world.Schedule();
  EXPECT_EQ(world.StateOf(job), JobState::kPending);
  EXPECT_EQ(world.ReasonFor(job).kind, ReasonKind::kJobHeldUser);
  EXPECT_TRUE(world.Take(HoldJob{job, std::nullopt, false, world.ada}).status.ok());
  world.Schedule();
  EXPECT_EQ(world.StateOf(job), JobState::kConfiguring);
}

TEST_F(JobHandlersTest, AJobThatIsRequeuedTooOftenIsHeldAndItsOwnerReleasesIt) {
  world.config.requeues_max = 2;
  const JobId job = world.Submit(Tasks(1));
  RunAndRequeue(job);
  RunAndRequeue(job);
  EXPECT_FALSE(world.state.FindJob(job)->held);
  RunAndRequeue(job);
  EXPECT_TRUE(world.state.FindJob(job)->held);
  EXPECT_EQ(world.ReasonFor(job).kind, ReasonKind::kJobHoldMaxRequeue);
  EXPECT_TRUE(world.Take(HoldJob{job, std::nullopt, false, world.ada}).status.ok());
  world.Schedule();
  EXPECT_EQ(world.StateOf(job), JobState::kConfiguring);
}

TEST_F(JobHandlersTest, ACancellationWinsOverARequeue) {
  const JobId job = world.Submit(Tasks(1));
  world.Schedule();
  world.TellStarted(node, job);
  ASSERT_TRUE(Requeue(job).ok());
  EXPECT_TRUE(world.Take(CancelJob{job, std::nullopt, world.ada}).status.ok());
  world.TellEnded(node, job, 2, EndCause::kCancelled);
  EXPECT_EQ(world.EndOf(job)->state, JobState::kCancelled);
}

TEST_F(JobHandlersTest, WhatCannotBeRequeuedIsRefusedWithTheReason) {
  const JobId waiting = world.Submit(Tasks(1));
  EXPECT_EQ(Requeue(waiting).code(), absl::StatusCode::kFailedPrecondition);
  JobSpec no = world.Spec(Tasks(1));
  no.requeue = Choice::kNo;
  const JobId refuses = world.Submit(no);
  JobSpec run = world.Spec(Tasks(1));
  run.kind = JobKind::kRun;
  const JobId ranks = world.Submit(run);
  world.Schedule();
  EXPECT_FALSE(Requeue(refuses).ok());
  EXPECT_FALSE(Requeue(ranks).ok());
  EXPECT_EQ(Requeue(JobId(99)).code(), absl::StatusCode::kNotFound);
}

// A script that asks to be run again with an exit code.
class RequeueExitTest : public JobHandlersTest {
 protected:
  [[nodiscard]] JobId Submit(Choice requeue, std::uint32_t code) {
    JobSpec spec = world.Spec(Tasks(1));
    spec.requeue = requeue;
    spec.requeue_exit = code;
    return world.Submit(spec);
  }
  // Runs the job for so long and lets its script end with that code.
  void RunAndExit(JobId job, std::int32_t code, Duration after = std::chrono::hours(1)) {
    world.Schedule();
    ASSERT_TRUE(world.state.FindJob(job)->attempt.has_value());
    world.TellStarted(node, job);
    world.now += after;
    world.TellEnded(node, job, 2, EndCause::kExited, ExitStatus{code, 0});
  }
};

TEST_F(RequeueExitTest, AScriptThatEndsWithTheCodeRunsAgainAsOftenAsItLikes) {
  world.config.requeues_max = 1;
  const JobId job = Submit(Choice::kYes, 0);
  for (std::uint32_t attempt = 1; attempt <= 4; ++attempt) {
    RunAndExit(job, 85);
    EXPECT_EQ(world.StateOf(job), JobState::kPending);
    EXPECT_FALSE(world.state.FindJob(job)->held);
    EXPECT_EQ(world.state.FindJob(job)->requeues, 0U);
  }
  const auto* requeued = std::get_if<JobRequeued>(&world.events.back());
  ASSERT_NE(requeued, nullptr);
  EXPECT_EQ(requeued->text, "its script asks for it with exit code 85");
  RunAndExit(job, 0);
  EXPECT_EQ(world.EndOf(job)->state, JobState::kCompleted);
}

TEST_F(RequeueExitTest, OneThatEndsAtOnceEachTimeIsHeldInTheEnd) {
  world.config.requeues_max = 2;
  const JobId job = Submit(Choice::kYes, 0);
  for (int attempt = 0; attempt < 3; ++attempt) {
    EXPECT_FALSE(world.state.FindJob(job)->held);
    RunAndExit(job, 85, std::chrono::seconds(1));
  }
  EXPECT_EQ(world.ReasonFor(job).kind, ReasonKind::kJobHoldMaxRequeue);
}

TEST_F(RequeueExitTest, AnyOtherCodeAndACancelledJobEnd) {
  const JobId other = Submit(Choice::kUnsaid, 99);
  RunAndExit(other, 85);
  EXPECT_EQ(world.EndOf(other)->state, JobState::kFailed);
  const JobId own = Submit(Choice::kUnsaid, 99);
  RunAndExit(own, 99);
  EXPECT_EQ(world.StateOf(own), JobState::kPending);
  const JobId unasked = Submit(Choice::kUnsaid, 0);
  RunAndExit(unasked, 85);
  EXPECT_EQ(world.EndOf(unasked)->state, JobState::kFailed);
  const JobId none = Submit(Choice::kYes, kNoRequeueExit);
  RunAndExit(none, 85);
  EXPECT_EQ(world.EndOf(none)->state, JobState::kFailed);
  EXPECT_TRUE(world.Take(CancelJob{own, std::nullopt, world.ada}).status.ok());
  const JobId cancelled = Submit(Choice::kYes, 0);
  world.Schedule();
  world.TellStarted(node, cancelled);
  EXPECT_TRUE(world.Take(CancelJob{cancelled, std::nullopt, world.ada}).status.ok());
  world.TellEnded(node, cancelled, 2, EndCause::kCancelled, ExitStatus{85, 0});
  EXPECT_EQ(world.EndOf(cancelled)->state, JobState::kCancelled);
}

TEST_F(RequeueExitTest, ItRunsAgainAlsoWhereItsTimeLimitMadeItLeave) {
  const JobId job = Submit(Choice::kYes, 0);
  world.Schedule();
  world.TellStarted(node, job);
  world.now += std::chrono::hours(1);
  world.TellEnded(node, job, 2, EndCause::kTimeLimit, ExitStatus{85, 0});
  EXPECT_EQ(world.StateOf(job), JobState::kPending);
}

TEST_F(RequeueExitTest, WithNoRequeueTheCodeIsRefused) {
  JobSpec spec = world.Spec(Tasks(1));
  spec.requeue = Choice::kNo;
  spec.requeue_exit = 85;
  EXPECT_EQ(std::string(Normalise(spec, SchedulerConfig()).status().message()),
            "--requeue-exit: --no-requeue excludes it; leave one out");
}

TEST_F(JobHandlersTest, ANodeThatFailsRequeuesAJobThatSaysSo) {
  JobSpec spec = world.Spec(Tasks(1));
  spec.requeue = Choice::kYes;
  const JobId again = world.Submit(spec);
  const JobId once = world.Submit(Tasks(1));
  world.Schedule();
  world.TellStarted(node, again);
  world.TellStarted(node, once);
  world.Take(LoseAgent{node});
  Registration registration = World::RegistrationOf("n1", testing::Shape());
  registration.boot_id = "boot2";
  world.Take(RegisterAgent{registration});
  EXPECT_EQ(world.StateOf(again), JobState::kPending);
  EXPECT_EQ(world.EndOf(once)->state, JobState::kNodeFail);
}

TEST_F(JobHandlersTest, AKilledSupervisorRequeuesAJobThatSaysSo) {
  JobSpec spec = world.Spec(Tasks(1));
  spec.requeue = Choice::kYes;
  const JobId again = world.Submit(spec);
  const JobId once = world.Submit(Tasks(1));
  const JobId cancelled = world.Submit(spec);
  world.Schedule();
  world.Take(CancelJob{cancelled, std::nullopt, world.ada});
  for (const JobId job : {again, once, cancelled}) {
    world.TellStarted(node, job);
    world.TellEnded(node, job, 2, EndCause::kLostSupervisor, ExitStatus{0, 9});
  }
  EXPECT_EQ(world.StateOf(again), JobState::kPending);
  EXPECT_EQ(world.EndOf(once)->state, JobState::kFailed);
  EXPECT_TRUE(world.EndOf(cancelled).has_value());
}

TEST_F(JobHandlersTest, OnlyTheOperatorReleasesWhatTheOperatorHolds) {
  const JobId job = world.Submit(Tasks(1));
  const User root{0, 0, "root"};
  ASSERT_TRUE(world.Take(HoldJob{job, std::nullopt, true, root}).status.ok());
  EXPECT_EQ(world.ReasonFor(job).kind, ReasonKind::kJobHeldAdmin);
  EXPECT_EQ(world.Take(HoldJob{job, std::nullopt, false, world.ada}).status.code(),
            absl::StatusCode::kPermissionDenied);
  world.config.operator_uid = world.bob.uid;
  EXPECT_TRUE(world.Take(HoldJob{job, std::nullopt, false, world.bob}).status.ok());
  EXPECT_EQ(world.ReasonFor(job).kind, ReasonKind::kNone);
}

TEST_F(JobHandlersTest, AnOperatorOfTheSiteChangesAnyJobAndActsInNone) {
  const Actor operates(world.bob, true, {});
  const JobId job = world.Submit(Tasks(1));
  EXPECT_EQ(world.Take(HoldJob{job, std::nullopt, true, world.bob}).status.code(),
            absl::StatusCode::kPermissionDenied);
  ASSERT_TRUE(world.Take(HoldJob{job, std::nullopt, true, operates}).status.ok());
  EXPECT_EQ(world.ReasonFor(job).kind, ReasonKind::kJobHeldAdmin);
  ASSERT_TRUE(world.Take(HoldJob{job, std::nullopt, false, operates}).status.ok());
  JobUpdate urgent;
  urgent.nice = -5;
  EXPECT_TRUE(world.Take(UpdateJob{job, std::nullopt, urgent, {}, operates}).status.ok());
  JobUpdate elsewhere;
  elsewhere.options = {"paths"};
  elsewhere.asked = JobSpec();
  EXPECT_EQ(world.Take(UpdateJob{job, std::nullopt, elsewhere, {}, operates}).status.code(),
            absl::StatusCode::kPermissionDenied)
      << "its files are made as its owner";
  world.Schedule();
  world.TellStarted(node, job);
  StartStep step;
  step.token = "step";
  step.job = job;
  step.program = testing::Script();
  step.by = operates;
  EXPECT_EQ(world.Take(step).status.code(), absl::StatusCode::kPermissionDenied)
      << "a program in it runs as its owner";
  EXPECT_TRUE(world.Take(CancelJob{job, std::nullopt, operates}).status.ok());
}

TEST_F(JobHandlersTest, ACoordinatorChangesTheJobsOfAnAccountAndOfThoseBelowIt) {
  const User root{0, 0, "root"};
  for (const auto& [name, parent] : {std::pair("physics", "root"), std::pair("theory", "physics"),
                                     std::pair("chemistry", "root")}) {
    ASSERT_TRUE(world
                    .Take(ChangePolicy{
                        PolicyVerb::kAdd, PolicyKind::kAccount, name, {{"Parent", parent}}, root})
                    .status.ok());
    ASSERT_TRUE(
        world
            .Take(ChangePolicy{
                PolicyVerb::kAdd, PolicyKind::kAssociation, absl::StrCat(name, "/ada"), {}, root})
            .status.ok());
  }
  const auto submit = [&](const std::string& account) {
    JobSpec spec = world.Spec(Tasks(1));
    spec.account = account;
    return world.Submit(spec);
  };
  const JobId theory = submit("theory");
  const JobId chemistry = submit("chemistry");
  const Actor leads(world.bob, false, {"physics"});
  EXPECT_EQ(world.Take(HoldJob{chemistry, std::nullopt, true, leads}).status.code(),
            absl::StatusCode::kPermissionDenied);
  ASSERT_TRUE(world.Take(HoldJob{theory, std::nullopt, true, leads}).status.ok());
  EXPECT_EQ(world.Take(HoldJob{theory, std::nullopt, false, world.ada}).status.code(),
            absl::StatusCode::kPermissionDenied)
      << "it is not its owner's to release";
  ASSERT_TRUE(world.Take(HoldJob{theory, std::nullopt, false, leads}).status.ok());
  JobUpdate urgent;
  urgent.nice = -5;
  EXPECT_EQ(world.Take(UpdateJob{theory, std::nullopt, urgent, {}, leads}).status.code(),
            absl::StatusCode::kPermissionDenied);
  EXPECT_EQ(world.Take(CancelJob{chemistry, std::nullopt, leads}).status.code(),
            absl::StatusCode::kPermissionDenied);
  EXPECT_TRUE(world.Take(CancelJob{theory, std::nullopt, leads}).status.ok());
}

TEST_F(JobHandlersTest, ADeadlineThatCannotBeMetEndsTheJobUnstarted) {
  JobSpec spec = world.Spec(Tasks(1));
  spec.time_limit = std::chrono::seconds(100);
  spec.deadline = world.now + std::chrono::seconds(150);
  spec.held = true;
  const JobId job = world.Submit(spec);
  world.Schedule();
  EXPECT_EQ(world.StateOf(job), JobState::kPending);
  world.now = world.MakePlanNow().wake;
  EXPECT_EQ(world.now, spec.deadline - spec.time_limit + Duration(1));
  world.Schedule();
  EXPECT_EQ(world.EndOf(job)->state, JobState::kDeadline);
  spec.deadline = world.now + std::chrono::seconds(99);
  EXPECT_FALSE(world.Take(SubmitJob{"late", spec, testing::Script()}).status.ok());
}

TEST_F(JobHandlersTest, AJobThatRunsIntoItsDeadlineEndsAsDeadline) {
  JobSpec spec = world.Spec(Tasks(1));
  spec.deadline = world.now + std::chrono::seconds(150);
  const JobId job = world.Submit(spec);
  world.Schedule();
  world.TellStarted(node, job);
  world.now = spec.deadline;
  world.TellEnded(node, job, 2, EndCause::kTimeLimit);
  EXPECT_EQ(world.EndOf(job)->state, JobState::kDeadline);
}

TEST_F(JobHandlersTest, AnUpdateChangesOneJobOfAnArrayOrAll) {
  JobSpec spec = world.Spec(Tasks(1));
  spec.array = ArraySpec{{ArrayRange{0, 2, 1}}, 0};
  const JobId array = world.Submit(spec);
  JobUpdate changes;
  changes.nice = 7;
  EXPECT_EQ(world.Take(UpdateJob{array, 1U, changes, {}, world.ada}).count, 1U);
  EXPECT_EQ(world.state.FindJob(array)->spec->nice, 0);
  EXPECT_EQ(world.state.FindJob(JobId(array.value() + 1))->spec->nice, 7);
  changes.time_limit = std::chrono::minutes(3);
  EXPECT_EQ(world.Take(UpdateJob{array, std::nullopt, changes, {}, world.ada}).count, 3U);
  EXPECT_EQ(world.state.FindJob(array)->spec->time_limit, std::chrono::minutes(3));
}

TEST_F(JobHandlersTest, AStartedJobTakesANameACommentAndATimeLimitOnly) {
  const JobId job = world.Submit(Tasks(1));
  world.Schedule();
  JobUpdate changes;
  changes.comment = "mine";
  EXPECT_TRUE(Update(job, changes).ok());
  EXPECT_EQ(world.state.FindJob(job)->spec->comment, "mine");
  changes.nice = 3;
  EXPECT_EQ(Update(job, changes).code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(Update(job, JobUpdate()).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Update(job, changes, world.bob).code(), absl::StatusCode::kPermissionDenied);
}

TEST_F(JobHandlersTest, AnUpdatedDependencyIsWaitedForAndCyclesAreRefused) {
  const JobId first = world.Submit(Tasks(1));
  const JobId second = world.Submit(Tasks(1));
  JobUpdate changes;
  changes.dependency =
      Dependency{{{DependencyKind::kAfterOk, second, std::nullopt, Duration(0)}}, false};
  ASSERT_TRUE(Update(first, changes).ok());
  EXPECT_EQ(world.ReasonFor(first).kind, ReasonKind::kDependency);
  changes.dependency->terms.front().job = first;
  EXPECT_EQ(Update(second, changes).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Update(first, changes).code(), absl::StatusCode::kInvalidArgument);
  changes.dependency = Dependency();
  ASSERT_TRUE(Update(first, changes).ok());
  EXPECT_EQ(world.ReasonFor(first).kind, ReasonKind::kNone);
}

TEST_F(JobHandlersTest, ARenamedJobLeavesItsNamesakes) {
  JobSpec spec = world.Spec(Tasks(1));
  spec.dependency.terms = {{DependencyKind::kSingleton, JobId(), std::nullopt, Duration(0)}};
  const JobId first = world.Submit(spec);
  const JobId second = world.Submit(spec);
  JobUpdate changes;
  changes.name = "other";
  ASSERT_TRUE(Update(first, changes).ok());
  EXPECT_EQ(world.ReasonFor(second).kind, ReasonKind::kNone);
}

TEST_F(JobHandlersTest, LicencesAreHeldFromTheStartToTheEnd) {
  world.config.licenses = {{"ansys", 3}};
  JobSpec spec = world.Spec(Tasks(1));
  spec.licenses = {{"ansys", 2}};
  const JobId first = world.Submit(spec);
  const JobId second = world.Submit(spec);
  world.Schedule();
  EXPECT_EQ(world.StateOf(first), JobState::kConfiguring);
  EXPECT_EQ(world.StateOf(second), JobState::kPending);
  EXPECT_EQ(world.ReasonFor(second).kind, ReasonKind::kLicenses);
  EXPECT_EQ(world.ReasonFor(second).holders, std::vector{first});
  world.TellEnded(node, first, 1);
  world.Schedule();
  EXPECT_EQ(world.StateOf(second), JobState::kConfiguring);
  spec.licenses = {{"ansys", 4}};
  EXPECT_FALSE(world.Take(SubmitJob{"more", spec, testing::Script()}).status.ok());
  spec.licenses = {{"matlab", 1}};
  EXPECT_FALSE(world.Take(SubmitJob{"none", spec, testing::Script()}).status.ok());
}

TEST_F(JobHandlersTest, APlanThatHandsOutTooManyLicencesIsNotTaken) {
  world.config.licenses = {{"ansys", 2}};
  JobSpec spec = world.Spec(Tasks(1));
  spec.licenses = {{"ansys", 2}};
  const JobId first = world.Submit(spec);
  const Plan plan = world.MakePlanNow();
  world.config.licenses = {{"ansys", 1}};
  world.Take(TakePlan{plan});
  EXPECT_EQ(world.StateOf(first), JobState::kPending);
}

}  // namespace
}  // namespace muster::core
